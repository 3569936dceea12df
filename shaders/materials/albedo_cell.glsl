// Cells of tables of directional albedos (viewer/materials/principled.py): tools/albedo.py tells their axes.
#include "lib/int_of.glsl"

// The number of the cell of a cosine and a GGX alpha, and the place within it, 0 .. 1. Of anisotropic lobes the
// quadratic mean of both alphas, which of the means tried came closest: 0.02 off on average. size: columns and rows.
int albedo_cell(float cosine, vec2 alpha, ivec2 size, out vec2 fraction) {
    float roughness = sqrt(sqrt(clamp(0.5 * dot(alpha, alpha), 0.0, 1.0)));
    vec2 position = vec2(sqrt(clamp(cosine, 0.0, 1.0)), roughness) * vec2(size);
    ivec2 cell = min(int_of(floor(position)), size - 1);
    fraction = position - vec2(cell);
    return cell.y * size.x + cell.x;
}

// The slice of a ratio of indices n, and how far it is to the next, 0 .. 1. first: that of equal indices, slices: the
// last; between them (n - 1) / (n + 1) goes by the square up to 0.512.
int albedo_slice(float ratio, int first, int slices, out float fraction) {
    float r = (ratio - 1.0) / (ratio + 1.0), from_equal = sqrt(min(abs(r) / 0.512, 1.0));
    float position = max(float(first) + (r < 0.0 ? -from_equal : from_equal) * float(slices - first), 0.0);
    int slice = min(int_of(floor(position)), slices - 1);
    fraction = position - float(slice);
    return slice;
}

// The cell of a table in slices, and the place within it, from slice to slice last. size: columns, rows, first and last
// slice.
int albedo_cell_of(float cosine, vec2 alpha, float ratio, ivec4 size, out vec3 fraction) {
    int cell = albedo_cell(cosine, alpha, size.xy, fraction.xy);
    return cell + albedo_slice(ratio, size.z, size.w, fraction.z) * size.x * size.y;
}

// The bilinear interpolation between the corners of a cell; then between two cells of adjacent slices.
float albedo_in_cell(Albedo cell, vec2 fraction) {
    vec2 at_columns = mix(cell.corners.xy, cell.corners.zw, fraction.y);
    return mix(at_columns.x, at_columns.y, fraction.x);
}

float albedo_in_cells(Albedo first, Albedo second, vec3 fraction) {
    return mix(albedo_in_cell(first, fraction.xy), albedo_in_cell(second, fraction.xy), fraction.z);
}
