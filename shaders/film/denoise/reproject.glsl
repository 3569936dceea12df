// A pixel's light, blended with what the pictures before have shown of the same point: temporal reprojection (Schied et al.
// 2017, "Spatiotemporal Variance-Guided Filtering", section 4.1). A point is sought where it was in the picture before,
// by the motion of the camera and of its object; pixels there count where plane, normal and object are the same.
// What is found is held within what the pixels around show now (variance clipping, Salvi 2016), so that neither shadows
// nor reflections leave trails; where light is rare, within what chance may leave out of so few pixels.
// Needs the streams lit, features, past (of `History`), motion (sorted by its numbers).
#include "film/denoise/alike.glsl"

uniform vec3 past_corner, past_dx, past_dy;  // the view before, as in view.glsl
uniform vec3 past_forward;                         // its axis
uniform vec3 shift;                                // from its eye to this one
uniform int moved;                                 // rows of motion; they are of instances
uniform int flat_scene;                            // 1: of triangles
uniform float samples;                             // of each pixel of this picture
uniform float chance;         // standard deviations of a mean of so many pixels, within which the past may be off them
uniform float longest;                             // samples that the past may count as, 0: there is none

const float ALIKE = 0.25;     // weight from which on two pixels show the same surface
const float WIDTH = 1.0;      // of what the pixels around show, in standard deviations
const float STEADY = 4.0;     // samples from which on a pixel's own past tells its variance
const float FEW = 4.0, ENOUGH = 7.5;  // of the 13 pixels around that show one surface: fewer are none, more are a surface
const float LOOSE = 0.3;       // length of their normals: neither they nor planes then tell much apart
const float APART = 10.0;     // of depths that differ, where surfaces are finer than pixels: a half at a tenth

// Weighted sums over pixels: of their light, its square, its luminance and the square of that, and of their normals.
struct Sums {
    float total, first, second;
    vec3 mean, square, normal;
};

Sums with_weighted(Sums sums, Lit there, float weight) {
    float value = dot(there.rgb, LUMINANCE);
    sums.total += weight;
    sums.first += weight * value;
    sums.second += weight * value * value;
    sums.mean += weight * there.rgb;
    sums.square += weight * there.rgb * there.rgb;
    sums.normal += weight * there.normal;
    return sums;
}

const Sums NO_SUMS = Sums(0.0, 0.0, 0.0, vec3(0.0), vec3(0.0), vec3(0.0));

Plane plane;
ivec2 middle, last;
Sums same, near;  // of the pixels around that show one surface, and of those of about its depth

void tap(int x, int y) {
    Lit there = fetch_lit(clamp(middle + ivec2(x, y), ivec2(0), last));
    same = with_weighted(same, there, falling(unlike(plane, Guide(there.normal, there.nearness), vec2(x, y))));
    float apart = abs(there.nearness - plane.nearness) / max(plane.nearness, 1e-30);
    near = with_weighted(near, there, falling(APART * apart));
}

// The row of motion that a number is of, or -1.
int row_of(int number) {
    int row = -1;
    for (int step = 2048; step > 0; step >>= 1) {
        int next = row + step;
        if (next < moved && fetch_motion(ivec2(next, 0)).first <= number) row = next;
    }
    return row >= 0 && number < fetch_motion(ivec2(row, 0)).end ? row : -1;
}

History element(ivec2 at) {
    Lit lit = fetch_lit(at);
    Features features = fetch_features(at);
    int instance = features.triangle < 0 ? -1 : features.instance;
    float luminance = dot(lit.rgb, LUMINANCE);

    plane = plane_of(Guide(lit.normal, lit.nearness), at, 2.0, STRICT);
    middle = at;
    last = textureSize(in_lit_0, 0) - 1;
    same = near = NO_SUMS;
    tap(0, 0);
    for (int side = -1; side <= 1; side += 2) {
        tap(side, -1);
        tap(side, 1);
        tap(2 * side, 0);
        tap(0, 2 * side);
        tap(2 * side, -2);
        tap(2 * side, 2);
    }
    // Where hardly any pixel shows the same surface, surfaces are finer than pixels: all at about the same depth are one,
    // of their mean normal, made short, or nothing of the noise would go.
    float fine = clamp((ENOUGH - same.total) / (ENOUGH - FEW), 0.0, 1.0);
    lit.normal = mix(lit.normal, LOOSE * near.normal / near.total, fine);
    float total = mix(same.total, near.total, fine), first = mix(same.first, near.first, fine) / total;
    float around = max(mix(same.second, near.second, fine) / total - first * first, 0.0);
    vec3 mean = mix(same.mean, near.mean, fine) / total;
    vec3 deviation = sqrt(max(mix(same.square, near.square, fine) / total - mean * mean, 0.0));

    // Where the point was, relative to the eye before.
    vec3 place = view_through(at) / max(lit.nearness, 1e-30), normal = lit.normal;
#ifdef HAVE_POSED
    Flow flow = fetch_flow(at);  // of a deforming object: from its pose to that of the picture before
    float size = length(normal);
    place += flow.shift;
    normal += size * flow.normal_change;
    normal *= size / max(length(normal), 1e-30);
#endif
    int row = moved > 0 ? row_of(flat_scene == 1 ? features.triangle : instance) : -1;
    Motion motion = fetch_motion(ivec2(max(row, 0), 0));
    vec3 moved_normal = vec3(dot(motion.row_x.xyz, normal), dot(motion.row_y.xyz, normal), dot(motion.row_z.xyz, normal));
    vec3 moved_place = vec3(dot(motion.row_x.xyz, place), dot(motion.row_y.xyz, place), dot(motion.row_z.xyz, place));
    moved_place += vec3(motion.row_x.w, motion.row_y.w, motion.row_z.w);
    place = row < 0 ? place + shift : moved_place;
    normal = row < 0 ? normal : moved_normal * (length(normal) / max(length(moved_normal), 1e-30));
    float depth = dot(place, past_forward);
    bool visible = lit.nearness > 0.0 && depth > 0.0 && longest > 0.0;
    float nearness = 1.0 / max(depth, 1e-30);
    vec3 through = place * nearness, from_corner = through - past_corner;
    vec2 spot = vec2(dot(from_corner, past_dx) / dot(past_dx, past_dx),
                     dot(from_corner, past_dy) / dot(past_dy, past_dy));
    Plane then = plane_through(Guide(normal, nearness), through, past_dx, past_dy, 1.0, STRICT);

    ivec2 limit = textureSize(in_past_0, 0) - 1;
    spot = visible ? clamp(spot, vec2(-2.0), vec2(limit + 2)) : vec2(-2.0);
    ivec2 low = ivec2(floor(spot));
    vec2 part = spot - vec2(low);
    float weight = 0.0, past_first = 0.0, past_second = 0.0, past_age = 0.0, past_variance = 0.0;
    vec3 past_rgb = vec3(0.0);
    for (int k = 0; k < 4; ++k) {
        ivec2 corner = ivec2(k & 1, k >> 1), there = low + corner, inside = clamp(there, ivec2(0), limit);
        History past = fetch_past(inside);
        float alike = falling(unlike(then, Guide(past.normal, past.nearness), vec2(there) - spot));
        vec2 close = mix(1.0 - part, part, vec2(corner));
        float share = there == inside && alike > ALIKE && past.instance == instance ? close.x * close.y : 0.0;
        weight += share;
        past_rgb += share * past.rgb;
        past_variance += share * past.variance;
        past_first += share * past.first;
        past_second += share * past.second;
        past_age += share * past.age;
    }

    History blended = History(lit.normal, lit.nearness, lit.rgb, lit.variance, luminance, luminance * luminance, samples,
                           instance);
    float single = lit.variance < 0.0 ? around : lit.variance;  // of this picture alone
    if (lit.variance < 0.0) blended.variance = around;
    if (weight > 0.01) {
        float scale = 1.0 / weight;
        past_rgb *= scale;
        past_first *= scale;
        past_second *= scale;
        float before = max(past_second - past_first * past_first, 0.0);
        vec3 bound = WIDTH * deviation + chance * sqrt(max(before, single) / total) + 1e-4 * mean;
        vec3 clipped = clamp(past_rgb, mean - bound, mean + bound);
        float clipped_away = dot(abs(past_rgb - clipped), LUMINANCE), allowed = dot(bound, LUMINANCE);
        // What had to be held back was of another light: it counts less, and so do its moments.
        float counted = min(past_age * scale, longest) * allowed / (allowed + clipped_away + 1e-30);
        float share = samples / (samples + counted);
        blended.rgb = mix(clipped, lit.rgb, share);
        blended.first = mix(past_first, luminance, share);
        blended.second = mix(past_second, luminance * luminance, share);
        blended.age = samples + counted;
        float variance_now = blended.age < STEADY * samples ? single : max(blended.second - blended.first * blended.first, 0.0);
        blended.variance = share * share * variance_now + (1.0 - share) * (1.0 - share) * past_variance * scale;
    }
    blended.variance = with_surface(blended.variance, surface_in(lit.variance));
    return blended;
}
