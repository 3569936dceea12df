// Fragment program of the visibility buffer for what a ray may pass or miss: surfaces with holes, by the very test of the
// machines, to which blended ones are there; and quadrics, by the boxes around them.
#include "raster/visible.glsl"

uniform int first;          // place of the draw's first triangle
uniform float least_depth;  // scene units

flat in int slot;

layout(location = 0) out vec2 out_visible;

void main() {
    Ray ray = visible_ray(ivec2(gl_FragCoord.xy));
    Hit hit = visible_at(ray, first + gl_PrimitiveID, slot);
    if (hit.triangle < 0) discard;
#ifdef HAVE_ALPHA
    if (opacity_passes(tested_ray(ray, hit.instance), hit)) discard;
#endif
    out_visible = vec2(first + gl_PrimitiveID, slot);
    gl_FragDepth = least_depth / (hit.t * dot(ray.direction, camera_forward));
}
