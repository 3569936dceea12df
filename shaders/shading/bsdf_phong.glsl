// Phong's model, on both faces, in its physically plausible form: albedo / pi, and around the mirror direction a lobe
// specular * (n + 2) / (2 pi) * cos^n; besides, its polish reflects a share, the reflectivity, as a mirror does.
// albedo + specular + reflectivity is at most 1. Sampled by the lobe, by the cosine, or as a mirror.
// Phong (1975); Lafortune and Willems, Using the Modified Phong Reflectance Model (1994); the mirror's share: Whitted
// (1980), Adinetz and Berezin (2006).
#include "lib/hemisphere.glsl"
#include "shading/bsdf_side.glsl"

vec3 phong_mirrored(Interaction at, vec3 wo) {
    return 2.0 * dot(at.shading, wo) * at.shading - wo;
}

// The cosine to the mirror's direction, to the power of the exponent.
float phong_power(Interaction at, vec3 wo, vec3 wi) {
    float cosine = dot(phong_mirrored(at, wo), wi);
    return cosine > 0.0 ? pow(min(cosine, 1.0), at.parameter) : 0.0;
}

// Probability of the lobe.
float phong_choice(Interaction at) {
    float diffuse = dot(at.albedo, vec3(0.33333333));
    return at.specular > 0.0 ? at.specular / (at.specular + diffuse) : 0.0;
}

// Probability of the mirror's direction.
float phong_mirrors(Interaction at) {
    float others = at.specular + dot(at.albedo, vec3(0.33333333));
    return at.reflectivity > 0.0 ? at.reflectivity / (at.reflectivity + others) : 0.0;
}

vec3 phong_value(Interaction at, vec3 wo, vec3 wi) {
    if (!reflects(at, wo, wi)) return vec3(0.0);
    float lobe = at.specular * (at.parameter + 2.0) * 0.15915494 * phong_power(at, wo, wi);
    return (at.albedo * 0.31830989 + lobe) * abs(dot(at.shading, wi));
}

// The density of phong_sample, without the mirror's direction.
float phong_pdf(Interaction at, vec3 wo, vec3 wi) {
    float cos_i = dot(at.shading, wi), choice = phong_choice(at);
    float diffuse = dot(at.shading, wo) * cos_i > 0.0 ? 0.31830989 * abs(cos_i) : 0.0;
    float lobe = (at.parameter + 1.0) * 0.15915494 * phong_power(at, wo, wi);
    return mix(diffuse, lobe, choice) * (1.0 - phong_mirrors(at));
}

// The mirror's direction and weight; nothing is refracted.
void phong_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    reflected = normalize(phong_mirrored(at, wo));
    reflection = vec3(at.reflectivity);
    refracted = -wo;
    refraction = vec3(0.0);
}

// Of a surface seen from above; at grazing angles a part of the lobe is below the surface.
vec3 phong_reflectance(Interaction at) {
    return at.albedo + at.specular;
}

// Chooses the mirror, the lobe or the diffuse part by u.z; pdf is 0 for the mirror.
bool phong_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    float mirrors = phong_mirrors(at);
    if (u.z >= 1.0 - mirrors) {
        wi = normalize(phong_mirrored(at, wo));
        weight = vec3(at.reflectivity / mirrors);
        pdf = 0.0;
        return true;
    }
    bool is_lobe = u.z < phong_choice(at) * (1.0 - mirrors);
    vec3 axis = dot(at.shading, wo) < 0.0 ? -at.shading : at.shading, local, right, up;
    if (is_lobe) {
        axis = phong_mirrored(at, wo);
        float cosine = pow(max(1.0 - u.x, 1e-20), 1.0 / (at.parameter + 1.0)), angle = 6.2831853 * u.y;
        local = vec3(sqrt(max(0.0, 1.0 - cosine * cosine)) * vec2(cos(angle), sin(angle)), cosine);
    } else {
        local = cosine_direction(u.xy);
    }
    frame_around(axis, right, up);
    wi = normalize(right * local.x + up * local.y + axis * local.z);
    pdf = phong_pdf(at, wo, wi);
    weight = phong_value(at, wo, wi) / max(pdf, 1e-30);
    return pdf > 0.0 && reflects(at, wo, wi);
}
