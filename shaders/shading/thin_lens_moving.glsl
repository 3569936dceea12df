// The camera of thin_lens.glsl, moving while the shutter is open: origin, axes and focus are linear between those of its
// keys, as moment_here says. Footprints are those of its first one. camera_keys, four of a key: origin and 1 / focus
// distance (0: a pinhole), forward, right and up as camera_right and so on; int camera_segments: keys less one, or 0.
#include "lib/disc.glsl"
#include "lib/filter.glsl"
#include "lib/moment.glsl"
#include "shading/pinhole.glsl"

void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction) {
    vec4 at[4] = vec4[4](
        vec4(camera_origin, camera_nearness), vec4(camera_forward, 0.0), vec4(camera_right, 0.0), vec4(camera_up, 0.0)
    );
    if (camera_segments > 0) {
        float share;
        int key = 4 * key_before(moment_here, camera_segments, share);
        for (int k = 0; k < 4; k++) {
            at[k] = camera_keys[key + k] + share * (camera_keys[key + 4 + k] - camera_keys[key + k]);
        }
    }
    vec2 film = (vec2(pixel) + (0.5 + filter_offset(camera_filter, film_u))) * camera_texel - 1.0;
    vec3 towards = at[1].xyz + film.x * at[2].xyz - film.y * at[3].xyz;
    origin = at[0].xyz;
    if (at[0].w > 0.0) {
        vec2 lens = concentric_disc(lens_u) * length(camera_lens_right);
        vec3 offset = lens.x * normalize(at[2].xyz) + lens.y * normalize(at[3].xyz);
        origin += offset;
        towards -= offset * at[0].w;
    }
    direction = normalize(towards);
}
