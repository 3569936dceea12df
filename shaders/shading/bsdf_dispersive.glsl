// A smooth dielectric whose index may differ from channel to channel. What is reflected stays together, in the
// proportions of Fresnel's shares; into which direction it refracts follows from green's index, and from a channel's own
// at a surface that kernels/choose_channel.glsl or interface/dispersion.glsl have given its index. The former decides
// whether it reflects as well: 1 and -1, added to the lobe's number, take it beyond or below every share but total
// reflection's, at which rounding in another program may have arrived.
#include "shading/bsdf_dielectric.glsl"
#include "shading/channel_index.glsl"

void dispersive_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    dielectric_branches(at, wo, reflected, reflection, refracted, refraction);
    if (at.specular > 0.0) {
        float cosine = dot(at.shading, wo), cos_behind, red = channel_index(at, 0), blue = channel_index(at, 2);
        reflection.x = fresnel(min(abs(cosine), 1.0), cosine >= 0.0 ? red : 1.0 / red, cos_behind);
        reflection.z = fresnel(min(abs(cosine), 1.0), cosine >= 0.0 ? blue : 1.0 / blue, cos_behind);
    }
}

float dispersive_index(Interaction at) {
    return at.parameter;
}

bool dispersive_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    return dielectric_sample(at, wo, vec3(u.xy, min(u.z + at.reflectivity, 0.99999994)), wi, weight, pdf);
}
