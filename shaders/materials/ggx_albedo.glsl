// E: what GGX reflects in all of the light from wo when Fresnel's reflectance is 1, by single scattering.
//
//   float ggx_albedo(float cosine, vec2 alpha)       cosine: wo.z
#include "materials/albedo_cell.glsl"

float ggx_albedo(float cosine, vec2 alpha) {
    vec2 fraction;
    int cell = albedo_cell(cosine, alpha, ivec2(GGX_ALBEDO_COLUMNS, GGX_ALBEDO_ROWS), fraction);
    return albedo_in_cell(fetch_ggx_albedos(cell), fraction);
}
