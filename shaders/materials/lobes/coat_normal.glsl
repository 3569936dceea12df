// Normal maps of the clear coat.
#include "materials/lobes/mapped.glsl"

vec3 coat_normal(Interaction at, Principled material) {
    return principled_mapped(at, material.clearcoat_normal);
}
