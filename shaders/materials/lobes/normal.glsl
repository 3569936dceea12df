// Normal maps of the base.
#include "materials/lobes/mapped.glsl"

// The map's normal on the side of wo, bent towards wo where its mirror would send light below the surface, as far as the
// horizon: no rim is black. A. Keller et al., The Iray Light Transport Simulation and Rendering System (2017), appendix.
vec3 principled_normal(Interaction at, Principled material, vec3 wo) {
    float side = dot(at.shading, wo) >= 0.0 ? 1.0 : -1.0;
    vec3 normal = side * principled_mapped(at, material.normal);
    vec3 mirrored = 2.0 * dot(normal, wo) * normal - wo;
    float mirrored_height = side * dot(at.shading, mirrored), cos_normal = max(side * dot(at.shading, normal), 1e-3);
    vec3 horizon_direction = normalize(mirrored - normal * (mirrored_height / cos_normal));
    vec3 half_vector = wo + horizon_direction;
    return mirrored_height < 0.0 ? half_vector * inversesqrt(max(dot(half_vector, half_vector), 1e-12)) : normal;
}

// The albedos of the matte base by how much of the light from wi it gets under a map: little where it just comes over the
// surface, which would cut it off at once. M. J. Chiang, Y. K. Li and B. Burley, Taming the Shadow Terminator (2019).
void principled_soften(vec3 shading, vec3 normal, vec3 wi, inout vec3 diffuse, inout vec3 through) {
    float cosines = abs(dot(normal, wi) * dot(normal, shading));
    float ratio = clamp(abs(dot(shading, wi)) / max(cosines, 1e-6), 0.0, 1.0);
    float softening = dot(normal, wi) > 0.0 ? max(ratio * (1.0 + ratio * (1.0 - ratio)), 1e-6) : 1.0;
    diffuse *= softening;
    through *= softening;
}
