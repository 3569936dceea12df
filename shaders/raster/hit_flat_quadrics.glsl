// The same where some are quadrics, of which the rasteriser has found the box: a ray may miss them. A face whose first
// corner is -n - 1 stands for quadric n.
#include "interface/quadric.glsl"
#define visible_hit polygon_hit
#include "raster/hit_flat.glsl"
#undef visible_hit

// The hit of a ray on the triangle or quadric of that number; none where it misses the quadric.
Hit visible_hit(Ray ray, int number, int instance) {
    int first = fetch_faces(number).corners.x;
    if (first >= 0) return polygon_hit(ray, number, instance);
    Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    quadric_test(ray, -first - 1, instance, hit);
    return hit;
}
