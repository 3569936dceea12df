// What Charlie's sheen reflects in all of the light from wo; above 1 where it is smooth, at grazing incidence.
//
//   float sheen_albedo(float cosine, float alpha)       cosine: wo.z
#include "materials/albedo_cell.glsl"

float sheen_albedo(float cosine, float alpha) {
    vec2 fraction;
    int cell = albedo_cell(cosine, vec2(alpha), ivec2(SHEEN_ALBEDO_COLUMNS, SHEEN_ALBEDO_ROWS), fraction);
    return SHEEN_ALBEDO_BRIGHTEST * albedo_in_cell(fetch_sheen_albedos(cell), fraction);
}
