// The reflected child of a surface, which is followed at once.
#include "interface/bsdf.glsl"
#include "interface/whitted.glsl"
#include "lib/far.glsl"
#include "lib/offset_origin.glsl"
#include "lib/path_moment.glsl"
#include "lib/ray_tag.glsl"

#ifdef HAVE_MOTION
int branch_reflection(in Pixel pixel, in Interaction interaction, inout Path path, out Ray ray) {
    int path_time = enter_time(pixel.at, path.number);
#else
int branch_reflection(in Interaction interaction, inout Path path, out Ray ray) {
#endif
    vec3 reflected, reflection, refracted, refraction;
    bsdf_branches(interaction, interaction.wo, reflected, reflection, refracted, refraction);
    ray.direction = reflected;
    ray.origin = offset_origin(interaction.position, interaction.normal, reflected, interaction.error);
    ray.t_max = FAR;
    ray.any_hit = ray_tag(path.number, true) + path_time;
    vec3 weight = path.throughput *= reflection;
    path.depth += 1;
    return whitted_reflections == 0 || all(lessThanEqual(weight, vec3(whitted_min_intensity))) ? EXIT_END : EXIT_RAY;
}
