// A: the albedo, in power, of refraction by GGX times 1 - s. In all (1 - F0) A + (1 - F90) B crosses. ratio: index behind
// the surface / index before it, 0.32 to 3.1; beyond as there.
//
//   float crossing_albedo(float cosine, vec2 alpha, float ratio)       cosine: wo.z
#include "materials/albedo_cell.glsl"

float crossing_albedo(float cosine, vec2 alpha, float ratio) {
    vec2 share;
    float above;
    int cell = albedo_cell(cosine, alpha, ivec2(CROSSING_ALBEDO_COLUMNS, CROSSING_ALBEDO_ROWS), share);
    cell += albedo_slice(ratio, CROSSING_ALBEDO_FIRST, CROSSING_ALBEDO_SLICES, above) * CROSSING_ALBEDO_STEP;
    float here = albedo_in_cell(fetch_crossing_albedos(cell), share);
    return mix(here, albedo_in_cell(fetch_crossing_albedos(cell + CROSSING_ALBEDO_STEP), share), above);
}
