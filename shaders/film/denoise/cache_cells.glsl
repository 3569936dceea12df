// The cells of an irradiance cache: where a point of the scene lies among those of one width, and where a cell is kept.
// A cell is told by its place, its level (its width is 2^level) and the way that its surfaces face; a hash of these gives
// its texel and a fingerprint (Binder et al. 2019, "Massively Parallel Path Space Filtering", section 3).
// Needs the constants EDGE_BITS, PLACE_BITS, LEVELS, WIDE.
#include "lib/hash.glsl"

uniform vec3 eye_high, eye_low;  // the eye, whose float32 is not enough where the scene is far from the origin
uniform float pixel;             // width of a pixel of light at a depth of 1
uniform int turn;                // another one for each picture

const float LARGEST = 1e15;  // of a nearness, a depth and a sum: beyond, float32 is near its end

// The point of a surface, in cells of 2^level: a whole number of them from the origin, modulo 2^PLACE_BITS, and the rest.
struct CellPoint {
    ivec3 whole;
    vec3 rest;
    int level;
};

// Exponent of the finest cells' width at a nearness.
int finest_level(float nearness) {
    return (floatBitsToInt(float(WIDE) * pixel / nearness) >> 23) - 127;
}

// offset: from the eye.
CellPoint cell_point(vec3 offset, int level) {
    float width = intBitsToFloat((level + 127) << 23);
    vec3 scaled = eye_high / width, whole = floor(scaled);
    CellPoint made;
    made.whole = ivec3(mod(whole, float(1 << PLACE_BITS)));
    made.rest = scaled - whole + (eye_low + offset) / width;
    made.level = level;
    return made;
}

// 0 to 5, down or up an axis: one of those that a surface faces, with a chance of the square of its cosine, so that
// between two axes both are mixed (G. McTaggart's ambient cube, "Half-Life 2 Source Shading", 2004). chance: 0 .. 1.
int facing_side(vec3 normal, float chance) {
    vec3 share = normal * normal;
    chance *= share.x + share.y + share.z;
    int axis = chance < share.x ? 0 : chance < share.x + share.y ? 1 : 2;
    return 2 * axis + (normal[axis] < 0.0 ? 0 : 1);
}

// The texel (x, y) of a cell, and its fingerprint, 1 .. 1024. steps: of cells, from the point's whole number.
ivec3 cell_address(CellPoint point, ivec3 steps, int side) {
    ivec3 place = (point.whole + steps) & ((1 << PLACE_BITS) - 1);
    uvec4 words = pcg4d(uvec4(uvec3(place), uint((point.level + 128) * 8 + side)));
    return ivec3(ivec2(words.xy >> uint(32 - EDGE_BITS)), 1 + int(words.z >> 22u));
}

// By their bits: drivers take no care of comparisons with what is no number.
bvec3 are_numbers(vec3 values) {
    return lessThan(floatBitsToInt(abs(values)), ivec3(floatBitsToInt(LARGEST)));
}

bool is_surface(vec3 normal, float nearness) {
    return all(are_numbers(vec3(nearness, dot(normal, normal), 0.0))) && nearness * LARGEST > 1.0 && dot(normal, normal) > 0.25;
}
