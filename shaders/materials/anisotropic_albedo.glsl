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
    vec2 most = vec2(ANISOTROPIC_ALBEDO_STRENGTHS, ANISOTROPIC_ALBEDO_AZIMUTHS), place = vec2(strength, azimuth) * most;
    ivec2 slice = min(int_of(floor(place)), ivec2(most) - 1);
    vec2 share, between = place - vec2(slice);
    int next = size.x * size.y, row = (ANISOTROPIC_ALBEDO_AZIMUTHS + 1) * next;
    int cell = albedo_cell(wo.z, alpha.yy, size, share) + slice.x * row + slice.y * next;
    float here = mix(
        albedo_in_cell(fetch_anisotropic_albedos(cell), share),
        albedo_in_cell(fetch_anisotropic_albedos(cell + next), share),
        between.y
    );
    float there = mix(
        albedo_in_cell(fetch_anisotropic_albedos(cell + row), share),
        albedo_in_cell(fetch_anisotropic_albedos(cell + row + next), share),
        between.y
    );
    return ggx_albedo(wo.z, alpha) + mix(here, there, between.x) - 0.5;
}
