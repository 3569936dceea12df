// Metal in the base, which reflects its colour.
#include "materials/fresnel.glsl"

// Of a microfacet.
vec3 metal_reflectance(float cosine, vec3 color) {
    return fresnel_schlick(cosine, color, vec3(1.0));
}

// Its part of what the base reflects.
vec3 metal_part(vec3 reflected, float metallic) { return reflected * metallic; }
