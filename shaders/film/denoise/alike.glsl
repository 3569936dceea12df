// How alike the surfaces of two pixels are, as an exponent of 2: 0 for two points of one plane. A regression over normals
// takes those of about one depth together, whichever way they face within reason: what their normals do to their light
// is what it finds.
// Planes are told by the nearness, which on the plane of the one is known at the other: nearness (1 + slope offset).
// Where pixels are partly covered their normals are short, so that edges mix with neither side.
#include "film/denoise/view.glsl"
#include "lib/luminance.glsl"

// With the turn of the normals, and with the distance from the plane: a quarter at 10 degrees, a half at 1 %. Of a
// regression: a half at 40 degrees, and at 4 %.
const vec2 STRICT = vec2(60.0, 100.0), REGRESSED = vec2(2.0, 25.0);
const float SHORT = 3.0;         // 1 / squared length of a mean normal, from which on it is short
const float NEVER = 1e3;         // beyond where weights are 0
const float SLOPE_SLACK = 0.1;   // of what the plane rises between the two
const float MIXED = 0.02;        // weight of a pixel of several surfaces, whose light is of none of them

struct Guide {
    vec3 normal;     // mean of the samples'
    float nearness;  // 1 / depth along the view's axis
};

// What is the same for all others of a pixel: slope of its plane, and the fall with the distance from it.
struct Plane {
    vec3 normal;
    float nearness;
    vec2 slope;
    float fall, normal_fall;
    float seam;  // view_seam
};

// Of a pixel seen along ``ray``, which changes to its right and below by these.
Plane plane_through(Guide guide, vec3 ray, vec3 dx, vec3 dy, float reach, vec2 falls) {
    float facing = dot(guide.normal, ray);
    float least = 0.02 * length(guide.normal) * length(ray) + 1e-20;
    facing = facing < 0.0 ? min(facing, -least) : max(facing, least);
    Plane plane;
    plane.normal = guide.normal;
    plane.nearness = guide.nearness;
    plane.normal_fall = falls.x;
    vec2 slope = vec2(dot(guide.normal, dx), dot(guide.normal, dy)) / facing;
    plane.slope = slope * guide.nearness;
    float rise = SLOPE_SLACK * reach * (abs(slope.x) + abs(slope.y));
    // Of what has no one normal planes tell little.
    plane.fall = min(1.0, SHORT * dot(guide.normal, guide.normal)) * falls.y / (max(guide.nearness, 1e-30) * (1.0 + falls.y * rise));
    return plane;
}

Plane plane_of(Guide guide, ivec2 at, float reach, vec2 falls) {
    vec3 dx = view_right(at, guide.nearness), dy = view_below(at, guide.nearness);
    Plane plane = plane_through(guide, view_through(at), dx, dy, reach, falls);
    plane.seam = view_seam(at);
    return plane;
}

// exp2(-x) nearly, for weights: drivers for the CPU take long for the true one. From 11.5 on it is 0.
float falling(float x) {
    float part = max(1.0 - 0.0866 * x, 0.0);
    part *= part;
    part *= part;
    return part * part;
}

float unlike(Plane plane, Guide other, vec2 offset) {
    if (across_seam(plane.seam, offset)) return NEVER;  // another eye's
    vec3 normal_change = other.normal - plane.normal;
    float expected = plane.nearness + dot(plane.slope, offset);
    return plane.normal_fall * dot(normal_change, normal_change) + plane.fall * abs(other.nearness - expected);
}

// Which surface a pixel sees, as a hash of 15 bits and whether it sees several, in the low bits of its light's variance, of
// which eight bits are enough: a texel holds both. Light of a floor and of the things on it never mix, though they are of
// one plane.
float with_surface(float variance, uint surface) {
    uint high = floatBitsToUint(variance < 0.0 ? variance : max(variance, 1e-30)) & 0xffff0000u;
    return uintBitsToFloat(high | (surface & 0xffffu));
}

uint surface_in(float variance) {
    return floatBitsToUint(variance) & 0xffffu;
}

bool is_mixed(float variance) {
    return (surface_in(variance) & 1u) != 0u;
}

bool on_surface(uint surface, uint other) {
    return (surface >> 1u) == (other >> 1u);
}

// How much the light of a pixel counts on another one's surface.
float same_surface(float other, float center) {
    return on_surface(surface_in(other), surface_in(center)) ? (is_mixed(other) ? MIXED : 1.0) : 0.0;
}
