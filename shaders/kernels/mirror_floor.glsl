// Sends the camera's ray on from the floor, as a polished one mirrors it: about a normal of Beckmann's distribution (P.
// Beckmann and A. Spizzichino, 1963), so that the image is sharp where the model stands and blurred above. The path's
// throughput keeps what the floor mirrors; meet_mirrored.glsl says of what.
#include "interface/floor.glsl"
#include "lib/first_ray.glsl"

const float FLOOR_SLOPE = 0.05;  // root mean square of the normals' slope

int mirror_floor(in Pixel pixel, inout Path path, out Ray ray) {
    ray = first_ray(pixel.at, path.number);
    float t;
    floor_meets(ray, t);
    vec2 u = sample_2d(pixel.at, path.number, surface_dimension(0) + DIMENSION_BSDF);
    float slope = FLOOR_SLOPE * sqrt(-log(1.0 - u.x)), angle = 6.2831853 * u.y;
    vec3 normal = normalize(vec3(slope * cos(angle), 1.0, slope * sin(angle)));
    float cosine = max(-ray.direction.y, 0.0);
    vec3 reflected = reflect(ray.direction, normal);
    reflected.y = max(abs(reflected.y), 1e-4);
    ray.origin += t * ray.direction;
    ray.origin.y = floor_height;
    ray.direction = normalize(reflected);
    ray.t_max = floor_reach / ray.direction.y;
    path.throughput = vec3(cosine);
    return EXIT_RAY;
}
