// The camera ray of a sample. Dimensions 0 and 1 choose the point on the film, 2 and 3 the one on the lens. With
// path_shared 1, all pixels of a sample share one offset from their centres, as a rasterised picture requires.
#include "interface/camera.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/blind_ray.glsl"
#include "lib/far.glsl"
#include "lib/path_moment.glsl"
#include "lib/ray_tag.glsl"

Ray first_ray(ivec2 pixel, int number) {
    Ray ray;
    ray.any_hit = ray_tag(number, true) + enter_time(pixel, number);
    vec2 film = sample_2d(path_shared == 1 ? ivec2(0) : pixel, number, 0);
    camera_sample(pixel, film, sample_2d(pixel, number, 2), ray.origin, ray.direction);
    ray.t_max = FAR;
    see_nothing(ray);
    return ray;
}
