// Lambert's matte surface, on both faces: albedo / pi. Sampled by the cosine.
#include "lib/hemisphere.glsl"
#include "shading/bsdf_side.glsl"

vec3 lambert_value(Interaction at, vec3 wo, vec3 wi) {
    return reflects(at, wo, wi) ? at.albedo * (0.31830989 * abs(dot(at.shading, wi))) : vec3(0.0);
}

float lambert_pdf(Interaction at, vec3 wo, vec3 wi) {
    float here = dot(at.shading, wi);
    return dot(at.shading, wo) * here > 0.0 ? 0.31830989 * abs(here) : 0.0;
}

vec3 lambert_reflectance(Interaction at) {
    return at.albedo;
}

bool lambert_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    vec3 up = dot(at.shading, wo) < 0.0 ? -at.shading : at.shading, s, t;
    frame_around(up, s, t);
    vec3 local = cosine_direction(u.xy);
    wi = normalize(s * local.x + t * local.y + up * local.z);
    weight = at.albedo;
    pdf = 0.31830989 * local.z;
    return pdf > 0.0 && reflects(at, wo, wi);
}
