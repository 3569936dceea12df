// Rays and quadrics: squares . (x^2, y^2, z^2) + linear y + constant = 0 in each one's own space, within a box and
// between two radii around the y axis. A ray is transformed to that space and its origin moved to its nearest point to
// the space's origin, so that a distant quadric loses no digits (E. Haines, J. Guenther and T. Akenine-Moeller,
// "Precision Improvements for Ray/Sphere Intersection", Ray Tracing Gems, 2019, chapter 7); the roots are those of the
// stable formula (W. Press et al., Numerical Recipes, section 5.6).
#include "interface/quadric.glsl"
#include "lib/nearer.glsl"
#include "lib/triangle_point.glsl"

struct QuadricRay {
    vec3 origin;     // own space, the ray's nearest point to the space's origin
    vec3 direction;  // own space, its largest component 1
    float scale;     // distance along the ray per unit of that direction
    float start;     // distance along the ray to the origin above
};

// A ray in the quadric's own space.
QuadricRay quadric_ray(Quadric quadric, Ray ray) {
    mat3 rows = mat3(quadric.inverse_x.xyz, quadric.inverse_y.xyz, quadric.inverse_z.xyz);  // its columns
    vec3 translation = vec3(quadric.inverse_x.w, quadric.inverse_y.w, quadric.inverse_z.w);
    QuadricRay local;
    local.direction = ray.direction * rows;
    local.scale = 1.0 / largest(local.direction);  // so that no square overflows
    local.direction *= local.scale;
    local.origin = (ray.origin - translation) * rows;
    float nearest = -dot(local.origin, local.direction) / dot(local.direction, local.direction);
    local.origin += nearest * local.direction;
    local.start = nearest * local.scale;
    return local;
}

// Whether a point of the surface, own space, is within the quadric's clipping.
bool quadric_holds(Quadric quadric, vec3 point) {
    float radius2 = dot(point.xz, point.xz);
    return all(greaterThanEqual(point, quadric.low)) && all(lessThanEqual(point, quadric.high))
        && radius2 >= quadric.ring.x && radius2 <= quadric.ring.y;
}

// Keeps the quadric's hit where it is nearer than `hit`.
void quadric_test(Ray ray, int address, int instance, inout Hit hit) {
    Quadric quadric = fetch_quadrics(address);
    QuadricRay local = quadric_ray(quadric, ray);
    // a t^2 + 2 b t + c = 0
    vec3 weighted = quadric.squares * local.direction;
    float a = dot(weighted, local.direction);
    float b = dot(weighted, local.origin) + 0.5 * quadric.linear * local.direction.y;
    float c = dot(quadric.squares * local.origin, local.origin) + quadric.linear * local.origin.y + quadric.constant;
    float discriminant = b * b - a * c;
    float root = sqrt(max(discriminant, 0.0));
    float q = b < 0.0 ? root - b : -b - root;
    float t_second = q != 0.0 ? c / q : 0.0;
    float t_first = a != 0.0 ? q / a : t_second;  // the single root where the equation is linear
    bool meets = discriminant >= 0.0 && (a != 0.0 || q != 0.0);
    float near = min(t_first, t_second), far = max(t_first, t_second);
    // Beyond the origin: rounding of a distance of zero is not a hit.
    float min_t = 4.7683716e-7 * abs(local.start);
    float t_near = local.start + near * local.scale, t_far = local.start + far * local.scale;
    bool hits_near = t_near > min_t && quadric_holds(quadric, local.origin + near * local.direction);
    bool hits_far = t_far > min_t && quadric_holds(quadric, local.origin + far * local.direction);
    if (meets && (hits_near || hits_far)) {
        keep_nearer(Hit(hits_near ? t_near : t_far, vec2(0.0), quadric.number, instance), hit);
    }
}

// The surface, in the space of the ray, where the ray meets the quadric at distance t.
Geometry quadric_at(Ray ray, float t, int address) {
    Quadric quadric = fetch_quadrics(address);
    QuadricRay local = quadric_ray(quadric, ray);
    vec3 point = local.origin + (t - local.start) / local.scale * local.direction;
    // A Newton step along the slope removes the rounding error of the distance.
    vec3 linear_slope = vec3(0.0, quadric.linear, 0.0), slope = 2.0 * quadric.squares * point + linear_slope;
    float slope2 = dot(slope, slope);
    float value = dot(quadric.squares * point, point) + quadric.linear * point.y + quadric.constant;
    if (slope2 > 0.0) point -= slope * (value / slope2);
    slope = 2.0 * quadric.squares * point + linear_slope;
    mat3 to_outer = transpose(mat3(quadric.linear_x, quadric.linear_y, quadric.linear_z));
    mat3 rows = mat3(quadric.inverse_x.xyz, quadric.inverse_y.xyz, quadric.inverse_z.xyz);
    mat3 abs_to_outer = mat3(abs(to_outer[0]), abs(to_outer[1]), abs(to_outer[2]));
    mat3 abs_to_own = transpose(mat3(abs(rows[0]), abs(rows[1]), abs(rows[2])));
    vec3 translation = vec3(quadric.inverse_x.w, quadric.inverse_y.w, quadric.inverse_z.w);
    vec3 rotated = to_outer * point, outer_slope = rows * slope;
    vec3 magnitude = max(abs_to_outer * abs(point), abs_to_outer * (abs_to_own * abs(rotated))) + abs(translation);
    // The function's rounding error over its slope: the test's distance from the surface.
    float term_sum = dot(abs(quadric.squares) * point, point) + abs(quadric.linear * point.y) + abs(quadric.constant);
    float slope_length = length(outer_slope);
    float stretch = slope_length > 0.0 ? min(term_sum / slope_length, 1e3 * largest(magnitude)) : 0.0;
    Geometry at;
    at.position = rotated + translation;
    at.error = position_error(magnitude, magnitude, magnitude, 10.0 * stretch);
    at.normal = unit_or(outer_slope * quadric.side, -ray.direction);
    at.shading = at.normal;
    at.color = vec3(1.0);
    float azimuth = atan(point.x, point.z) / 6.28318531;
    float v = (point.y - quadric.span.x) * quadric.span.y;
    if (quadric.kind == QUADRIC_BALL) v = atan(length(point.xz), -point.y) / 3.14159265;
    if (quadric.kind == QUADRIC_FLAT) v = (length(point.xz) - quadric.span.x) * quadric.span.y;
    // Around the axis they change by the circumference, along it uniformly; the map's scale is the mean of all
    // directions.
    float circumference = 6.28318531 * max(length(point.xz), 1e-3 * largest(point));
    float along_scale = quadric.kind == QUADRIC_BALL ? 1.0 / (3.14159265 * length(point)) : abs(quadric.span.y);
    at.uv = vec3(azimuth < 0.0 ? azimuth + 1.0 : azimuth, clamp(v, 0.0, 1.0), 0.5 * log2(along_scale / circumference));
    at.uv.z -= log2(abs(determinant(to_outer))) / 3.0;
    at.material = 0;
    return at;
}
