// Fresnel's reflectance under a thin film. For KHR_materials_iridescence.
//
//   vec3 iridescent_fresnel(float cosine, float outside, float film, float thickness, vec3 f0)
//   vec3 iridescent_f0(vec3 share, float rise)
//
// It takes the place of Fresnel's reflectance in the lobes of metals and specular layers:
// mix(fresnel, iridescent_fresnel, iridescence). cosine: of the angle between direction and microfacet, 0 .. 1.
// outside: index before the film (1; that of a clearcoat under one). film: the film's index. thickness: nanometres.
// f0: reflectance straight on of what lies below, seen from the outside without the film. Belcour and Barla, A
// Practical Extension to Microfacet Theory for the Modeling of Varying Iridescence (2017), without polarisation, with
// Schlick's reflectances, as the extension has it; two orders of interference.
#include "materials/fresnel.glsl"

// Linear sRGB of X, Y and Z, by columns.
const mat3 IRIDESCENT_RGB =
    mat3(3.2404542, -0.9692660, 0.0556434, -1.5371385, 1.8760108, -0.2040259, -0.4985314, 0.0415560, 1.0572252);

// The Fourier transform of the eye's response at a path difference (nm): Gaussians fitted to the colour matching
// functions, Belcour and Barla 2017, section 4.
vec3 iridescent_response(float difference) {
    float phase = 6.2831853e-9 * difference, squared = phase * phase;
    vec3 amplitude = vec3(5.4856e-13, 4.4201e-13, 5.2481e-13), frequency = vec3(1.6810e6, 1.7953e6, 2.2084e6);
    vec3 variance = vec3(4.3278e9, 9.3046e9, 6.6121e9);
    vec3 xyz = amplitude * sqrt(6.2831853 * variance) * cos(frequency * phase) * exp(-variance * squared);
    float x_second = cos(2.2399e6 * phase) * exp(-4.5282e9 * squared);
    xyz.x += 9.7470e-14 * sqrt(6.2831853 * 4.5282e9) * x_second;
    return IRIDESCENT_RGB * (xyz / 1.0685e-7);
}

vec3 iridescent_fresnel(float cosine, float outside, float film, float thickness, vec3 f0) {
    float cos_outside = clamp(cosine, 0.0, 1.0);
    float ratio = outside / film, cos2_film = 1.0 - ratio * ratio * (1.0 - cos_outside * cos_outside);
    float cos_film = sqrt(max(cos2_film, 0.0));
    // Reflectances r12 from outside into the film, and r23 from the film to what lies below it, whose index is that of f0.
    float r12 = fresnel_schlick(cos_outside, vec3(fresnel_f0(film / outside)), vec3(1.0)).x, t121 = 1.0 - r12;
    vec3 sqrt_f0 = sqrt(clamp(f0 + 1e-4, 0.0, 0.9999)), base_index = (1.0 + sqrt_f0) / (1.0 - sqrt_f0);
    vec3 amplitude = (base_index - film) / (base_index + film);
    vec3 r23 = fresnel_schlick(cos_film, amplitude * amplitude, vec3(1.0));
    // Half a wave is lost at denser media, in each channel by its own base_index: a sign of RGB, not a phase of X, Y and Z.
    vec3 phase_sign = (film < outside ? 1.0 : -1.0) * mix(vec3(1.0), vec3(-1.0), lessThan(base_index, vec3(film)));
    // The sum over reflections within the film: what does not interfere, and two orders of what does.
    float difference = 2.0 * film * thickness * cos_film;
    vec3 r123 = clamp(r12 * r23, 0.0, 0.9999), series = t121 * t121 * r23 / (1.0 - r123), order = series - t121;
    vec3 sum = r12 + series;
    order *= phase_sign * sqrt(r123);
    sum += order * 2.0 * iridescent_response(difference);
    order *= phase_sign * sqrt(r123);
    sum += order * 2.0 * iridescent_response(2.0 * difference);
    // Without a film there is the base.
    vec3 no_film = fresnel_schlick(cos_outside, f0, vec3(1.0)), with_film = cos2_film < 0.0 ? vec3(1.0) : clamp(sum, 0.0, 1.0);
    return mix(no_film, with_film, smoothstep(0.0, 0.03, thickness));
}

// The reflectance straight on with which fresnel_dielectric's curve gives this reflectance where it has risen by rise:
// for the albedos of a lobe and its compensation, with share and rise at wo.z. Of films on dielectrics such an albedo was
// off by 0.01 on average, by 0.18 at most, seldom below the true one (over roughness, angle, index and thickness).
vec3 iridescent_f0(vec3 reflectance, float rise) {
    return clamp((reflectance - rise) / max(1.0 - rise, 1e-3), 0.0, 1.0);
}
