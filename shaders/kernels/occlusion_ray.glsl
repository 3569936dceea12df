// A ray into the hemisphere over the side of a surface that is seen, by the cosine, as far as occlusion looks (S. Zhukov,
// A. Iones and G. Kronin, "An Ambient Light Illumination Model", 1998: obscurances, of one distance here).
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/hemisphere.glsl"
#include "lib/path_moment.glsl"
#include "lib/shadow_ray.glsl"

int occlusion_ray(in Pixel pixel, in Interaction interaction, in Path path, out Ray ray) {
    enter_time(pixel.at, path.number);
    vec3 normal = dot(interaction.normal, interaction.wo) < 0.0 ? -interaction.normal : interaction.normal, right, up;
    frame_around(normal, right, up);
    vec3 local = cosine_direction(sample_2d(pixel.at, path.number, surface_dimension(path.depth) + DIMENSION_BSDF));
    vec3 direction = normalize(right * local.x + up * local.y + normal * local.z);
    ray = shadow_ray(interaction, direction, min(occlusion_distance, FAR), path.number);
    return EXIT_RAY;
}
