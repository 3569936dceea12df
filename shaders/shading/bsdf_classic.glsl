// The classic material (viewer/scene/material.py): reflected and refracted into single directions, the diffuse part
// unlit, or as Lambert's.
// The parameter is the index of refraction; specular is 1 where channels part, each by its own index; reflectivity is
// 1 and -1 where kernels/choose_channel.glsl has decided that it refracts (or scatters) and reflects.
#include "lib/hemisphere.glsl"
#include "shading/bsdf_side.glsl"

struct ClassicShares {
    vec3 reflected, refracted, diffuse;
};

// The normal on the side of wo.
vec3 classic_normal(Interaction at, vec3 wo) {
    return dot(at.shading, wo) < 0.0 ? -at.shading : at.shading;
}

// Index on the side of wo / index on the other; a sheet has the same on both sides of it.
float classic_ratio(Interaction at, Classic material, vec3 wo, float index) {
    return material.thickness > 0.0 || dot(at.shading, wo) >= 0.0 ? 1.0 / index : index;
}

// Fresnel's share of reflection, and 1 beyond the critical angle.
float classic_fresnel(vec3 fresnel, float cosine, float ratio) {
    float one_minus = max(1.0 - cosine, 1e-30);
    float reflectance = clamp(fresnel.x + fresnel.y * pow(one_minus, fresnel.z), 0.0, 1.0);
    return ratio * ratio * (1.0 - cosine * cosine) > 1.0 ? 1.0 : reflectance;
}

// What goes each way, by the indices of the channels.
ClassicShares classic_shares(Interaction at, Classic material, vec3 wo, vec3 indices) {
    float cosine = min(abs(dot(at.shading, wo)), 1.0);
    vec3 reflected = vec3(
        classic_fresnel(material.fresnel, cosine, classic_ratio(at, material, wo, indices.x)),
        classic_fresnel(material.fresnel, cosine, classic_ratio(at, material, wo, indices.y)),
        classic_fresnel(material.fresnel, cosine, classic_ratio(at, material, wo, indices.z))
    );
    vec3 transmitted = 1.0 - reflected;
    return ClassicShares(
        reflected * material.specular * material.reflectivity, transmitted * material.ambient * material.transmittance,
        at.albedo * (reflected * (1.0 - material.reflectivity) + transmitted * (1.0 - material.transmittance))
    );
}

vec3 classic_indices(Interaction at, Classic material) {
    return at.specular > 0.0 ? material.indices : vec3(at.parameter);
}

bool classic_lit(Classic material) {
    return (material.flags & CLASSIC_LIT) != 0;
}

// The direction into which a ray from wo is refracted; along the surface where it is not.
vec3 classic_refracted(Interaction at, Classic material, vec3 wo) {
    vec3 normal = classic_normal(at, wo);
    float eta = classic_ratio(at, material, wo, at.parameter), cosine = min(dot(normal, wo), 1.0);
    float cos_behind = sqrt(max(0.0, 1.0 - eta * eta * (1.0 - cosine * cosine)));
    return normalize(normal * (eta * cosine - cos_behind) - wo * eta);
}

vec3 classic_emission(Interaction at) {
    Classic material = classic_material(interaction_material(at));
    vec3 diffuse = classic_shares(at, material, at.wo, classic_indices(at, material)).diffuse;
    return classic_lit(material) ? vec3(0.0) : diffuse;
}

// The directions and weights of reflection and refraction.
void classic_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    Classic material = classic_material(interaction_material(at));
    ClassicShares shares = classic_shares(at, material, wo, classic_indices(at, material));
    reflected = normalize(2.0 * dot(at.shading, wo) * at.shading - wo);
    reflection = shares.reflected;
    refracted = material.thickness > 0.0 ? -wo : classic_refracted(at, material, wo);
    refraction = shares.refracted;
}

bool classic_delta(Interaction at) {
    return !classic_lit(classic_material(interaction_material(at)));
}

vec3 classic_reflectance(Interaction at) {
    Classic material = classic_material(interaction_material(at));
    vec3 diffuse = classic_shares(at, material, at.wo, classic_indices(at, material)).diffuse;
    return classic_lit(material) ? diffuse : vec3(0.0);
}

// The diffuse part of the BSDF times |cosine|.
vec3 classic_value(Interaction at, vec3 wo, vec3 wi) {
    Classic material = classic_material(interaction_material(at));
    vec3 diffuse = classic_shares(at, material, wo, classic_indices(at, material)).diffuse;
    bool is_reflected = classic_lit(material) && reflects(at, wo, wi);
    return is_reflected ? diffuse * (0.31830989 * abs(dot(at.shading, wi))) : vec3(0.0);
}

// Chances of the directions: reflected, refracted, diffuse.
vec3 classic_chances(ClassicShares shares, bool lit) {
    vec3 third = vec3(0.33333333);
    vec3 chances = vec3(dot(shares.reflected, third), dot(shares.refracted, third), dot(shares.diffuse, third));
    if (!lit) chances.z = 0.0;
    return chances / max(chances.x + chances.y + chances.z, 1e-30);
}

// By the indices of all channels, whichever is followed: a weight of samples that lights' directions share.
float classic_pdf(Interaction at, vec3 wo, vec3 wi) {
    Classic material = classic_material(interaction_material(at));
    vec3 chances = classic_chances(classic_shares(at, material, wo, material.indices), classic_lit(material));
    return reflects(at, wo, wi) ? chances.z * 0.31830989 * abs(dot(at.shading, wi)) : 0.0;
}

// Chooses reflection, refraction or the diffuse part by u.z; pdf is 0 for the first two.
bool classic_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    Classic material = classic_material(interaction_material(at));
    ClassicShares shares = classic_shares(at, material, wo, classic_indices(at, material));
    if (at.reflectivity > 0.0) {  // what is not reflected: chosen, and to be shared by the others
        vec3 unreflected = 1.0 / max(1.0 - shares.reflected, vec3(1e-30));
        shares = ClassicShares(vec3(0.0), shares.refracted * unreflected, shares.diffuse * unreflected);
    }
    vec3 chances = classic_chances(shares, classic_lit(material)), normal = classic_normal(at, wo);
    bool is_mirrored = at.reflectivity < 0.0 || u.z < chances.x, is_refracted = !is_mirrored && u.z < chances.x + chances.y;
    vec3 local = cosine_direction(u.xy), right, up;
    frame_around(normal, right, up);
    wi = normalize(right * local.x + up * local.y + normal * local.z);
    weight = shares.diffuse / max(chances.z, 1e-30);
    pdf = 0.0;
    if (is_mirrored) {
        wi = normalize(2.0 * dot(at.shading, wo) * at.shading - wo);
        weight = at.reflectivity < 0.0 ? vec3(1.0) : shares.reflected / chances.x;
    } else if (is_refracted) {
        wi = material.thickness > 0.0 ? -wo : classic_refracted(at, material, wo);
        weight = shares.refracted / chances.y;
    } else {
        pdf = classic_pdf(at, wo, wi);
    }
    return is_mirrored || is_refracted || (chances.z > 0.0 && pdf > 0.0);
}
