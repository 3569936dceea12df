// A thin lens with a pixel filter: the twin of raystream.cameras.lens.lens_rays (Cook, Porter and Carpenter, Distributed
// Ray Tracing, 1984). Points at the focus distance along the view are sharp. camera_lens_right and camera_lens_up are
// scaled by the radius of the lens; at zero this is the pinhole, to the bit.
#include "lib/disc.glsl"
#include "lib/filter.glsl"
#include "shading/pinhole.glsl"

void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction) {
    vec2 film = vec2(pixel) + (0.5 + filter_offset(camera_filter, film_u));
    vec3 towards = camera_towards(film);
    origin = camera_origin;
    if (camera_nearness > 0.0) {
        vec2 lens = concentric_disc(lens_u);
        vec3 offset = lens.x * camera_lens_right + lens.y * camera_lens_up;
        origin += offset;
        towards -= offset * camera_nearness;
    }
    direction = normalize(towards);
}
