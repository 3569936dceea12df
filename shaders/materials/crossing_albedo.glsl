// A: the albedo, in power, of refraction by GGX times 1 - s. In all (1 - F0) A + (1 - F90) B crosses. ratio: index behind
// the surface / index before it, 0.32 to 3.1; beyond as there.
//
//   float crossing_albedo(float cosine, vec2 alpha, float ratio)       cosine: wo.z
#include "materials/albedo_cell.glsl"

float crossing_albedo(float cosine, vec2 alpha, float ratio) {
    const ivec4 size = ivec4(CROSSING_ALBEDO_COLUMNS, CROSSING_ALBEDO_ROWS, CROSSING_ALBEDO_FIRST, CROSSING_ALBEDO_SLICES);
    vec3 fraction;
    int cell = albedo_cell_of(cosine, alpha, ratio, size, fraction);
    return albedo_in_cells(fetch_crossing_albedos(cell), fetch_crossing_albedos(cell + CROSSING_ALBEDO_STEP), fraction);
}
