// Light of an image environment on the floor, by inversion: a row of the upper half by what it brings, a texel of that
// row, and within it in proportion to the cosine (viewer/lighting/backdrop.py). Neighbouring numbers give neighbouring
// directions, so that a pixel's even ones spread evenly over the lights.
// Memory: floor_shares, those of rows, then of the texels of each. Uniforms: ivec2 floor_texels, across and rows; int
// floor_rows, of the whole image; vec2 floor_turn.
#include "interface/floor_light.glsl"

// The first of entries first .. first + count - 1 whose cumulative share is above u.
int floor_entry(int first, int count, float u) {
    int low = first, high = first + count - 1;
    do {
        int middle = (low + high) / 2;
        bool is_below = fetch_floor_shares(middle).up_to <= u;
        low = is_below ? middle + 1 : low;
        high = is_below ? high : middle;
    } while (low < high);
    return low;
}

// Where u is between the shares up to the entry before and up to this one.
float floor_within(int first, int entry, float u) {
    float share_before = entry > first ? fetch_floor_shares(entry - 1).up_to : 0.0, share_after = fetch_floor_shares(entry).up_to;
    return clamp((u - share_before) / max(share_after - share_before, 1e-30), 0.0, 1.0);
}

// A direction of light on the floor, world space.
vec3 floor_light(vec2 u) {
    int row = floor_entry(0, floor_texels.y, u.y);
    int first = floor_texels.y + row * floor_texels.x, entry = floor_entry(first, floor_texels.x, u.x);
    float angle = 3.14159265 / float(floor_rows);
    float cos_upper = cos(angle * float(row)), cos_lower = max(cos(angle * float(row + 1)), 0.0);
    float height2 = mix(cos_upper * cos_upper, cos_lower * cos_lower, floor_within(0, row, u.y)), radius = sqrt(1.0 - height2);
    float column = float(entry - first) + floor_within(first, entry, u.x);
    float azimuth = 6.2831853 * (column / float(floor_texels.x) - 0.5);
    vec3 d = vec3(radius * cos(azimuth), sqrt(height2), radius * sin(azimuth));
    return vec3(floor_turn.x * d.x + floor_turn.y * d.z, d.y, floor_turn.x * d.z - floor_turn.y * d.x);
}
