// A picture reprojected to another camera by its depths: image warping (Mark, McMillan and Bishop 1997, "Post-Rendering
// 3D Warping"), with source places found iteratively (Bowles et al. 2012, "Iterative Image Warping"). A pixel's depth
// is known only in the source picture: the depth at a guessed place improves the guess. Places hidden in the picture
// are filled from their neighbours.
// Needs the stream shown, of any size, filtered between its texels.
#include "film/denoise/view.glsl"

uniform vec3 past_forward, past_right, past_lower;  // of v: depth, and times depth column and row, relative to the place
uniform vec2 past_start;                            // of the picture's pixels that its axis goes through
uniform vec3 past_axis;                            // depth along this view's axis at depth 1: upper left pixel, and its change
uniform vec3 shift;                                 // from the picture's eye to this one
uniform float travel;                               // of that, along this view's axis

const float LEAST_DEPTH = 1e-4;  // of depth 1: points nearer than this, or behind this eye, keep their place

// Pixel of the picture with a point at 1 / nearness along this view's axis.
vec2 place_of(vec3 through, float nearness) {
    vec3 towards = through + nearness * shift;
    float depth = max(dot(towards, past_forward), 1e-6);
    return vec2(dot(towards, past_right), dot(towards, past_lower)) / depth + past_start;
}

// The nearness to this eye of the picture's surface at a place, or ``otherwise``.
float nearness_at(vec2 place, float otherwise) {
    ivec2 last = textureSize(in_shown_0, 0) - 1;
    vec2 inside = clamp(place, vec2(0.0), vec2(last));
    float nearness = fetch_shown(ivec2(inside + 0.5)).nearness;
    float depth = dot(past_axis, vec3(1.0, inside)) - nearness * travel;
    return depth > LEAST_DEPTH ? nearness / depth : otherwise;
}

Shown element(ivec2 at) {
    vec3 through = view_through(at);
    float nearness = nearness_at(place_of(through, 0.0), 0.0);
    nearness = nearness_at(place_of(through, nearness), nearness);
    vec2 place = place_of(through, nearness);
    vec3 rgb = textureLod(in_shown_0, (place + 0.5) / vec2(textureSize(in_shown_0, 0)), 0.0).rgb;
    return Shown(rgb, nearness);
}
