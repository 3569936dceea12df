// What a projection provides: how a camera maps directions to places in its picture. Camera space: x to the right, y up, z
// along the view, scene units. The float64 forms are in viewer/scene/projections.py.

// The ray of a place on the film, -1 .. 1 to the right and down: where it starts, for an eye that is so far to the right of
// the middle, and its direction, of any length, of depth 1 where a lens may be. False where the film sees nothing.
bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction);

// The tangent of the angle that a pixel has around a unit direction, the shorter one.
float projected_spread(vec3 direction);

// The side of a pixel at a point's distance.
float projected_pixel(vec3 point);
