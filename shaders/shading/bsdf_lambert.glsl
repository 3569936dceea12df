// Lambert's matte surface, on both faces: albedo / pi. Sampled by the cosine.
#include "lib/hemisphere.glsl"
#include "shading/bsdf_side.glsl"

vec3 lambert_value(Interaction at, vec3 wo, vec3 wi) {
    return reflects(at, wo, wi) ? at.albedo * (0.31830989 * abs(dot(at.shading, wi))) : vec3(0.0);
}

float lambert_pdf(Interaction at, vec3 wo, vec3 wi) {
    float cosine = dot(at.shading, wi);
    return dot(at.shading, wo) * cosine > 0.0 ? 0.31830989 * abs(cosine) : 0.0;
}

vec3 lambert_reflectance(Interaction at) {
    return at.albedo;
}

// A direction by the cosine, on the side of wo.
bool lambert_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    vec3 normal = dot(at.shading, wo) < 0.0 ? -at.shading : at.shading, right, up;
    frame_around(normal, right, up);
    vec3 local = cosine_direction(u.xy);
    wi = normalize(right * local.x + up * local.y + normal * local.z);
    weight = at.albedo;
    pdf = 0.31830989 * local.z;
    return pdf > 0.0 && reflects(at, wo, wi);
}
