// The same where some are quadrics, of which the rasteriser has found the box: a ray may miss them. A face whose first
// corner is -n - 1 stands for quadric n.
#include "interface/quadric.glsl"
#define visible_hit polygon_hit
#include "raster/hit_objects.glsl"
#undef visible_hit

// The hit of a ray on a triangle or quadric of an instance; none where it misses the quadric.
Hit visible_hit(Ray ray, int number, int instance) {
    int first = fetch_faces(fetch_instances(instance).face + number).corners.x;
    if (first >= 0) return polygon_hit(ray, number, instance);
    Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    quadric_test(tested_ray(ray, instance), -first - 1, instance, hit);
    return hit;
}
