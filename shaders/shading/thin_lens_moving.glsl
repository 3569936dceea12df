// The camera of thin_lens.glsl, moving while the shutter is open: origin, axes and focus are linear between those of its
// keys, as moment_here says. Footprints are those of its first one. camera_keys, four of a key: origin and 1 / focus
// distance (0: a pinhole), forward, right and up as camera_right and so on; int camera_segments: keys less one, or 0.
#include "lib/disc.glsl"
#include "lib/filter.glsl"
#include "lib/moment.glsl"
#include "shading/pinhole.glsl"

void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction) {
    vec4 state[4] = vec4[4](
        vec4(camera_origin, camera_nearness), vec4(camera_forward, 0.0), vec4(camera_right, 0.0), vec4(camera_up, 0.0)
    );
    if (camera_segments > 0) {
        float fraction;
        int key = 4 * key_before(moment_here, camera_segments, fraction);
        for (int k = 0; k < 4; k++) {
            state[k] = camera_keys[key + k] + fraction * (camera_keys[key + 4 + k] - camera_keys[key + k]);
        }
    }
    vec2 film = (vec2(pixel) + (0.5 + filter_offset(camera_filter, film_u))) * camera_texel - 1.0;
    vec3 towards = state[1].xyz + film.x * state[2].xyz - film.y * state[3].xyz;
    origin = state[0].xyz;
    if (state[0].w > 0.0) {
        vec2 lens = concentric_disc(lens_u) * length(camera_lens_right);
        vec3 offset = lens.x * normalize(state[2].xyz) + lens.y * normalize(state[3].xyz);
        origin += offset;
        towards -= offset * state[0].w;
    }
    direction = normalize(towards);
}
