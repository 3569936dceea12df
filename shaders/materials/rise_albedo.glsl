// S: the albedo of GGX times the rise s of a dielectric's Fresnel reflectance, F = F0 + (F90 - F0) s. In all it reflects
// F0 (E - S) + F90 S. ratio: index behind the surface / index before it, 0.32 to 3.1; beyond as there.
//
//   float rise_albedo(float cosine, vec2 alpha, float ratio)       cosine: wo.z
#include "materials/albedo_cell.glsl"

float rise_albedo(float cosine, vec2 alpha, float ratio) {
    const ivec4 size = ivec4(RISE_ALBEDO_COLUMNS, RISE_ALBEDO_ROWS, RISE_ALBEDO_FIRST, RISE_ALBEDO_SLICES);
    vec3 fraction;
    int cell = albedo_cell_of(cosine, alpha, ratio, size, fraction);
    return albedo_in_cells(fetch_rise_albedos(cell), fetch_rise_albedos(cell + RISE_ALBEDO_STEP), fraction);
}
