// A picture as another camera sees it, by its depths: image warping (Mark, McMillan and Bishop 1997, "Post-Rendering 3D
// Warping"), whose places are found by repeated lookups (Bowles et al. 2012, "Iterative Image Warping").
// What a pixel shows is at a depth that only the picture knows: the place where the picture shows it is guessed, the
// depth there makes a better guess. What the picture does not show is taken from what is beside it.
// Needs the stream shown, of any size, filtered between its texels.
#include "film/denoise/view.glsl"

uniform vec3 past_forward, past_right, past_lower;  // of v: depth, and times depth column and row, relative to the place
uniform vec2 past_start;                            // of the picture's pixels that its axis goes through
uniform vec3 past_along;                            // depth along this view's axis at depth 1: upper left pixel, and its change
uniform vec3 shift;                                 // from the picture's eye to this one
uniform float travel;                               // of that, along this view's axis

const float LEAST_DEPTH = 1e-4;  // of what was at depth 1: what is nearer, or behind this eye, stays where it was

// Where a point at 1 / nearness along this view's axis is in the picture, pixels.
vec2 place_of(vec3 through, float nearness) {
    vec3 towards = through + nearness * shift;
    float depth = max(dot(towards, past_forward), 1e-6);
    return vec2(dot(towards, past_right), dot(towards, past_lower)) / depth + past_start;
}

// The nearness to this eye of what the picture shows at a place, or ``otherwise``.
float nearness_at(vec2 place, float otherwise) {
    ivec2 last = textureSize(in_shown_0, 0) - 1;
    vec2 inside = clamp(place, vec2(0.0), vec2(last));
    float found = fetch_shown(ivec2(inside + 0.5)).nearness;
    float depth = dot(past_along, vec3(1.0, inside)) - found * travel;
    return depth > LEAST_DEPTH ? found / depth : otherwise;
}

Shown element(ivec2 at) {
    vec3 through = view_through(at);
    float nearness = nearness_at(place_of(through, 0.0), 0.0);
    nearness = nearness_at(place_of(through, nearness), nearness);
    vec2 place = place_of(through, nearness);
    vec3 rgb = textureLod(in_shown_0, (place + 0.5) / vec2(textureSize(in_shown_0, 0)), 0.0).rgb;
    return Shown(rgb, nearness);
}
