// A smooth boundary between the outside (the front) and a dielectric inside, whose index relative to it is the parameter:
// reflects or refracts, chosen in proportion to Fresnel's share. The albedo tints what is refracted.
// Radiance is scaled by the squared ratio of the indices when it crosses (Veach 1997, section 5.2). By the shading normal
// alone, as in Mitsuba 3 (dielectric).
#include "lib/fresnel.glsl"

bool dielectric_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    float here = dot(at.shading, wo), behind;
    bool outside = here >= 0.0;
    float ratio = outside ? at.parameter : 1.0 / at.parameter;  // index on the other side / on this one
    float share = fresnel(min(abs(here), 1.0), ratio, behind);
    pdf = 0.0;
    if (u.z < share) {
        wi = normalize(2.0 * here * at.shading - wo);
        weight = vec3(1.0);
    } else {
        float inverse = 1.0 / ratio;
        wi = normalize(at.shading * (here * inverse - (outside ? behind : -behind)) - wo * inverse);
        weight = at.albedo * (inverse * inverse);
    }
    return true;
}
