// Oren and Nayar (1994), equation 30, on both faces; at.parameter is the square of the slopes' deviation, radians.
// Sampled by the cosine.
#include "lib/hemisphere.glsl"
#include "shading/bsdf_side.glsl"

vec3 clay_value(Interaction at, vec3 wo, vec3 wi) {
    if (!reflects(at, wo, wi)) return vec3(0.0);
    float here = abs(dot(at.shading, wi)), there = abs(dot(at.shading, wo));
    float a = 1.0 - 0.5 * at.parameter / (at.parameter + 0.33), b = 0.45 * at.parameter / (at.parameter + 0.09);
    float together = max(0.0, dot(wi, wo) - here * there) / max(here, there);
    return at.albedo * (0.31830989 * (a + b * together) * here);
}

float clay_pdf(Interaction at, vec3 wo, vec3 wi) {
    float here = dot(at.shading, wi);
    return dot(at.shading, wo) * here > 0.0 ? 0.31830989 * abs(here) : 0.0;
}

vec3 clay_reflectance(Interaction at) {
    return at.albedo;
}

bool clay_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    vec3 up = dot(at.shading, wo) < 0.0 ? -at.shading : at.shading, s, t;
    frame_around(up, s, t);
    vec3 local = cosine_direction(u.xy);
    wi = normalize(s * local.x + t * local.y + up * local.z);
    pdf = clay_pdf(at, wo, wi);
    weight = clay_value(at, wo, wi) / max(pdf, 1e-30);
    return pdf > 0.0 && reflects(at, wo, wi);
}
