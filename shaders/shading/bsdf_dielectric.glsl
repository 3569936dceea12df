// A smooth boundary between the outside (the front) and a dielectric inside, whose index relative to it is the
// parameter: reflects or refracts, chosen in proportion to Fresnel's share. The albedo tints what is refracted.
// Radiance is scaled by the squared ratio of the indices when it crosses (Veach 1997, section 5.2). By the shading
// normal alone, as in Mitsuba 3 (dielectric).
#include "lib/fresnel.glsl"

void dielectric_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    float cosine = dot(at.shading, wo), cos_behind;
    bool outside = cosine >= 0.0;
    float ratio = outside ? at.parameter : 1.0 / at.parameter;  // index on the other side / on this one
    float reflectance = fresnel(min(abs(cosine), 1.0), ratio, cos_behind), inverse_ratio = 1.0 / ratio;
    reflected = normalize(2.0 * cosine * at.shading - wo);
    reflection = vec3(reflectance);
    refracted = normalize(at.shading * (cosine * inverse_ratio - (outside ? cos_behind : -cos_behind)) - wo * inverse_ratio);
    refraction = at.albedo * ((1.0 - reflectance) * inverse_ratio * inverse_ratio);
}

float dielectric_index(Interaction at) {
    return at.parameter;
}

// Chooses reflection or refraction by u.z.
bool dielectric_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    vec3 reflected, reflection, refracted, refraction;
    dielectric_branches(at, wo, reflected, reflection, refracted, refraction);
    bool mirrors = u.z < reflection.x;
    wi = mirrors ? reflected : refracted;
    weight = mirrors ? vec3(1.0) : refraction / (1.0 - reflection.x);  // chosen with its share, which is not 1
    pdf = 0.0;
    return true;
}
