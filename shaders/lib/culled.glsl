// Back faces that are culled (glTF 2.0, 3.9.5).
#include "lib/ray_tag.glsl"

// Whether a ray passes through a triangle; back: it comes from behind. A macro, since each test has a record of its own.
#ifdef HAVE_CULLED
#define triangle_culled(ray, triangle, back) ((back) && (triangle).one_sided == 1 && (ray).any_hit >= RAY_VIEW)
#else
#define triangle_culled(ray, triangle, back) false
#endif
