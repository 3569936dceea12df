// Where a camera ray arrives: at a surface, before the backdrop, or on the floor, where the backdrop waits for a shadow
// ray. It goes to where light comes from if nothing is in the way, in proportion to what that brings to the floor: the
// mean of the rays that come through is the ratio of shadowed to unshadowed arriving light, a floor that nothing shades
// has no noise, and no sample is beyond 0 to 1. The environment's light is the same all over the floor and has such
// directions ready; beside lights it is one candidate, with all that it brings, among points of lights (resampled
// importance sampling, as in resample_light.glsl; shading/floor_points.glsl). These are spread evenly, so that their sum hardly varies: the ratio's
// bias is the covariance of both sums.
#include "interface/background.glsl"
#include "interface/floor.glsl"
#include "interface/floor_light.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/blind_ray.glsl"
#include "lib/far.glsl"
#include "lib/path_moment.glsl"
#include "lib/ray_tag.glsl"

int see_floor(
    in Pixel pixel, in Hit hit, in Path path, inout Ray ray, inout Radiance radiance, out Radiance pending
) {
    enter_time(pixel.at, path.number);
    const vec3 up = vec3(0.0, 1.0, 0.0);
    bool surface_hit = hit.triangle >= 0;
    float t, arriving = 0.0, distance = 0.0;
    bool on_floor = floor_meets(ray, t) && !surface_hit;
    vec3 backdrop = surface_hit || !path_counts(0) ? vec3(0.0) : background_radiance(ray.direction);
    if (sees_nothing(ray)) backdrop = vec3(0.0);
    vec3 direction = up, floor_point = ray.origin + t * ray.direction;
    floor_point.y = floor_height;
    if (on_floor) {
        vec2 point = sample_2d(pixel.at, path.number, surface_dimension(0) + DIMENSION_POINT);
        direction = floor_light(point);
        distance = FAR;
        arriving = floor_irradiance;
        choose_floor_point(pixel.at, path.number, floor_point, point, arriving, direction, distance);
    }
    bool is_lit = arriving > 0.0;
    if (!is_lit) radiance.rgb += backdrop;
    pending.rgb = is_lit ? backdrop : vec3(0.0);
    if (is_lit) {
        ray = Ray(floor_point, distance * 0.99999, direction, 1 + ray_tag(path.number, false) + time_tag());
    }
    return surface_hit ? EXIT_SURFACE : is_lit ? EXIT_SHADOW : on_floor ? EXIT_MIRROR : EXIT_END;
}
