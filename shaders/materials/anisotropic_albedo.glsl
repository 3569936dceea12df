// E of anisotropic GGX: what it reflects in all of the light from wo when Fresnel's reflectance is 1, by single
// scattering. Beside ggx_albedo, of the quadratic mean of both alphas, which it corrects by up to a half.
//
//   float anisotropic_albedo(vec3 wo, vec2 alpha)       alpha.x >= alpha.y, as of ggx_alpha_anisotropic
#include "lib/int_of.glsl"
#include "materials/albedo_cell.glsl"
#include "materials/ggx_albedo.glsl"

float anisotropic_albedo(vec3 wo, vec2 alpha) {
    const ivec2 size = ivec2(ANISOTROPIC_ALBEDO_COLUMNS, ANISOTROPIC_ALBEDO_ROWS);
    float strength = sqrt(clamp((alpha.x - alpha.y) / max(1.0 - alpha.y, 1e-6), 0.0, 1.0));
    float azimuth = min(abs(wo.x) * inversesqrt(max(dot(wo.xy, wo.xy), 1e-20)), 1.0);
    vec2 last_slice = vec2(ANISOTROPIC_ALBEDO_STRENGTHS, ANISOTROPIC_ALBEDO_AZIMUTHS), position = vec2(strength, azimuth) * last_slice;
    ivec2 slice = min(int_of(floor(position)), ivec2(last_slice) - 1);
    vec2 fraction, slice_fraction = position - vec2(slice);
    int azimuth_step = size.x * size.y, strength_step = (ANISOTROPIC_ALBEDO_AZIMUTHS + 1) * azimuth_step;
    int cell = albedo_cell(wo.z, alpha.yy, size, fraction) + slice.x * strength_step + slice.y * azimuth_step;
    float lower = mix(
        albedo_in_cell(fetch_anisotropic_albedos(cell), fraction),
        albedo_in_cell(fetch_anisotropic_albedos(cell + azimuth_step), fraction),
        slice_fraction.y
    );
    float upper = mix(
        albedo_in_cell(fetch_anisotropic_albedos(cell + strength_step), fraction),
        albedo_in_cell(fetch_anisotropic_albedos(cell + strength_step + azimuth_step), fraction),
        slice_fraction.y
    );
    return ggx_albedo(wo.z, alpha) + mix(lower, upper, slice_fraction.x) - 0.5;
}
