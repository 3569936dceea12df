// A perfect mirror on both faces: the albedo is what it reflects at every angle. By the shading normal alone, as in
// Mitsuba 3 (conductor).

void mirror_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    reflected = normalize(2.0 * dot(at.shading, wo) * at.shading - wo);
    reflection = at.albedo;
    refracted = -wo;
    refraction = vec3(0.0);
}

// The mirrored direction.
bool mirror_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    wi = normalize(2.0 * dot(at.shading, wo) * at.shading - wo);
    weight = at.albedo;
    pdf = 0.0;
    return true;
}
