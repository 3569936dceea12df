// The camera of any projection, with a pixel filter, a lens where directions have depths, and two eyes side by side: the
// twin of raystream.cameras.lens.projected_rays. Directions are 0 where the film sees nothing. camera_right, camera_up,
// camera_forward: unit axes. float camera_eyes: the distance between the eyes, of which each has half of the picture; 0: one
// picture. float camera_lens: radius of the lens; camera_nearness: 1 / focus distance, 0 without a lens.
#include "interface/camera.glsl"
#include "interface/projection.glsl"
#include "lib/disc.glsl"
#include "lib/filter.glsl"

float camera_spread(vec3 direction) {
    return projected_spread(direction * mat3(camera_right, camera_up, camera_forward));
}

float camera_pixel(vec3 point) {
    return projected_pixel((point - camera_origin) * mat3(camera_right, camera_up, camera_forward));
}

// Which eye sees a pixel is told by its centre, so that a filter does not reach into the other half.
// The ray of a pixel through a point of the film, camera space; whether the film sees anything there.
bool film_ray(ivec2 pixel, vec2 film, out vec3 start, out vec3 direction) {
    vec2 film_position = film * camera_texel - 1.0;
    float eye = 0.0;
    if (camera_eyes > 0.0) {
        float side = (float(pixel.x) + 0.5) * camera_texel.x < 1.0 ? -1.0 : 1.0;
        film_position.x = 2.0 * film_position.x - side;
        eye = 0.5 * side * camera_eyes;
    }
    return projected_ray(film_position, eye, start, direction);
}

// The ray through a pixel's centre, world space; its direction is 0 where the film sees nothing.
void camera_ray(ivec2 pixel, out vec3 origin, out vec3 direction) {
    vec3 start, local;
    bool sees = film_ray(pixel, vec2(pixel) + 0.5, start, local);
    mat3 axes = mat3(camera_right, camera_up, camera_forward);
    origin = camera_origin + axes * start;
    direction = sees ? normalize(axes * local) : vec3(0.0);
}

// Origin, nearness and axes of a camera that moves while the shutter is open, at the time of the path; as in
// shading/thin_lens_moving.glsl.
#ifdef HAVE_CAMERA_KEYS
#include "lib/moment.glsl"

void move_camera(inout vec3 eye, inout float nearness, inout mat3 axes) {
    if (camera_segments > 0) {
        float fraction;
        int key = 4 * key_before(moment_here, camera_segments, fraction);
        vec4 state[4];
        for (int k = 0; k < 4; k++) {
            state[k] = camera_keys[key + k] + fraction * (camera_keys[key + 4 + k] - camera_keys[key + k]);
        }
        eye = state[0].xyz;
        nearness = state[0].w;
        axes = mat3(normalize(state[2].xyz), normalize(state[3].xyz), normalize(state[1].xyz));
    }
}
#else
void move_camera(inout vec3 eye, inout float nearness, inout mat3 axes) {}
#endif

// A ray through a pixel, world space, by numbers for the points on film and lens; its direction is 0 as above.
void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction) {
    vec3 start, camera_direction, eye = camera_origin;
    bool sees = film_ray(pixel, vec2(pixel) + (0.5 + filter_offset(camera_filter, film_u)), start, camera_direction);
    mat3 axes = mat3(camera_right, camera_up, camera_forward);
    float inverse_focus = camera_nearness;
    move_camera(eye, inverse_focus, axes);
    if (inverse_focus > 0.0) {
        vec3 offset = vec3(camera_lens * concentric_disc(lens_u), 0.0);
        start += offset;
        camera_direction -= offset * inverse_focus;
    }
    origin = eye + axes * start;
    direction = sees ? normalize(axes * camera_direction) : vec3(0.0);
}
