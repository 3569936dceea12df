// Which pixels a regression over normals takes together: those of about one depth, whichever way they face within reason,
// since what their normals do to their light is what it finds.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/surface.glsl"
#include "lib/luminance.glsl"

const float TURN_FALL = 2.0;    // half at a turn of 40 degrees
const float DEPTH_FALL = 25.0;  // half at 4 % off the plane

Plane plane_near(Guide guide, ivec2 at, float reach) {
    return plane_within(guide, at, reach, DEPTH_FALL);
}

// An exponent of 2: 0 for two points of one plane; what nothing was hit at is apart from all.
float apart_from(Plane plane, Guide other, vec2 offset) {
    return other.nearness > 0.0 ? unlike_by(plane, other, offset, TURN_FALL) : 1e30;
}
