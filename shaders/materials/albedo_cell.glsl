// Cells of tables of directional albedos (viewer/materials/principled.py): tools/albedo.py tells their axes.
#include "lib/int_of.glsl"

// The number of the cell of a cosine and a GGX alpha, and the place within it, 0 .. 1. Of anisotropic lobes the
// quadratic mean of both alphas, which of the means tried came closest: 0.02 off on average. size: columns and rows.
int albedo_cell(float cosine, vec2 alpha, ivec2 size, out vec2 share) {
    float roughness = sqrt(sqrt(clamp(0.5 * dot(alpha, alpha), 0.0, 1.0)));
    vec2 place = vec2(sqrt(clamp(cosine, 0.0, 1.0)), roughness) * vec2(size);
    ivec2 cell = min(int_of(floor(place)), size - 1);
    share = place - vec2(cell);
    return cell.y * size.x + cell.x;
}

// The slice of a ratio of indices n, and how far it is to the next, 0 .. 1. first: that of equal indices, slices: the
// last; between them (n - 1) / (n + 1) goes by the square up to 0.512.
int albedo_slice(float ratio, int first, int slices, out float share) {
    float r = (ratio - 1.0) / (ratio + 1.0), x = sqrt(min(abs(r) / 0.512, 1.0));
    float depth = max(float(first) + (r < 0.0 ? -x : x) * float(slices - first), 0.0);
    int slice = min(int_of(floor(depth)), slices - 1);
    share = depth - float(slice);
    return slice;
}

// The cell of a table in slices, and the place within it, from slice to slice last. size: columns, rows, first and last
// slice.
int albedo_cell_of(float cosine, vec2 alpha, float ratio, ivec4 size, out vec3 share) {
    int cell = albedo_cell(cosine, alpha, size.xy, share.xy);
    return cell + albedo_slice(ratio, size.z, size.w, share.z) * size.x * size.y;
}

float albedo_in_cell(Albedo cell, vec2 share) {
    vec2 sides = mix(cell.corners.xy, cell.corners.zw, share.y);
    return mix(sides.x, sides.y, share.x);
}

float albedo_in_cells(Albedo here, Albedo there, vec3 share) {
    return mix(albedo_in_cell(here, share.xy), albedo_in_cell(there, share.xy), share.z);
}
