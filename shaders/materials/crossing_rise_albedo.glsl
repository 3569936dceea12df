// B: the albedo, in power, of refraction by GGX times s: what crosses besides where F90 is below 1. ratio: index behind
// the surface / index before it, 1 to 3.1; below 1 it has no part, since total reflection is total.
//
//   float crossing_rise_albedo(float cosine, vec2 alpha, float ratio)       cosine: wo.z
#include "materials/albedo_cell.glsl"

float crossing_rise_albedo(float cosine, vec2 alpha, float ratio) {
    const ivec4 size = ivec4(CROSSING_RISE_ALBEDO_COLUMNS, CROSSING_RISE_ALBEDO_ROWS, CROSSING_RISE_ALBEDO_FIRST, CROSSING_RISE_ALBEDO_SLICES);
    vec3 fraction;
    int cell = albedo_cell_of(cosine, alpha, ratio, size, fraction);
    return albedo_in_cells(fetch_crossing_rise_albedos(cell), fetch_crossing_rise_albedos(cell + CROSSING_RISE_ALBEDO_STEP), fraction);
}
