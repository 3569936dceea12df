// Normal maps of the base.
#include "materials/lobes/mapped.glsl"

// The map's normal on the side of wo, bent towards wo where its mirror would send light below the surface, as far as the
// horizon: no rim is black. A. Keller et al., The Iray Light Transport Simulation and Rendering System (2017), appendix.
vec3 principled_normal(Interaction at, Principled material, vec3 wo) {
    float side = dot(at.shading, wo) >= 0.0 ? 1.0 : -1.0;
    vec3 normal = side * principled_mapped(at, material.normal);
    vec3 mirrored = 2.0 * dot(normal, wo) * normal - wo;
    float height = side * dot(at.shading, mirrored), upright = max(side * dot(at.shading, normal), 1e-3);
    vec3 level = normalize(mirrored - normal * (height / upright));
    vec3 bent = wo + level;
    return height < 0.0 ? bent * inversesqrt(max(dot(bent, bent), 1e-12)) : normal;
}

// The albedos of the matte base by how much of the light from wi it gets under a map: little where it just comes over the
// surface, which would cut it off at once. M. J. Chiang, Y. K. Li and B. Burley, Taming the Shadow Terminator (2019).
void principled_soften(vec3 shading, vec3 normal, vec3 wi, inout vec3 diffuse, inout vec3 through) {
    float over = abs(dot(normal, wi) * dot(normal, shading));
    float share = clamp(abs(dot(shading, wi)) / max(over, 1e-6), 0.0, 1.0);
    float lit = dot(normal, wi) > 0.0 ? max(share * (1.0 + share * (1.0 - share)), 1e-6) : 1.0;
    diffuse *= lit;
    through *= lit;
}
