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

QuadricRay quadric_ray(Quadric quadric, Ray ray) {
    mat3 rows = mat3(quadric.inverse_x.xyz, quadric.inverse_y.xyz, quadric.inverse_z.xyz);  // its columns
    vec3 place = vec3(quadric.inverse_x.w, quadric.inverse_y.w, quadric.inverse_z.w);
    QuadricRay local;
    local.direction = ray.direction * rows;
    local.scale = 1.0 / largest(local.direction);  // so that no square overflows
    local.direction *= local.scale;
    local.origin = (ray.origin - place) * rows;
    float nearest = -dot(local.origin, local.direction) / dot(local.direction, local.direction);
    local.origin += nearest * local.direction;
    local.start = nearest * local.scale;
    return local;
}

// Whether a point of the surface, own space, is within the quadric's clipping.
bool quadric_holds(Quadric quadric, vec3 point) {
    float square = dot(point.xz, point.xz);
    return all(greaterThanEqual(point, quadric.low)) && all(lessThanEqual(point, quadric.high))
        && square >= quadric.ring.x && square <= quadric.ring.y;
}

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
    float sum = b < 0.0 ? root - b : -b - root;
    float second = sum != 0.0 ? c / sum : 0.0;
    float first = a != 0.0 ? sum / a : second;  // the single root where the equation is linear
    bool meets = discriminant >= 0.0 && (a != 0.0 || sum != 0.0);
    float near = min(first, second), far = max(first, second);
    // Beyond the origin: rounding of a distance of zero is not a hit.
    float least = 4.7683716e-7 * abs(local.start);
    float t_near = local.start + near * local.scale, t_far = local.start + far * local.scale;
    bool hits_near = t_near > least && quadric_holds(quadric, local.origin + near * local.direction);
    bool hits_far = t_far > least && quadric_holds(quadric, local.origin + far * local.direction);
    if (meets && (hits_near || hits_far)) {
        keep_nearer(Hit(hits_near ? t_near : t_far, vec2(0.0), quadric.number, instance), hit);
    }
}

Geometry quadric_at(Ray ray, float t, int address) {
    Quadric quadric = fetch_quadrics(address);
    QuadricRay local = quadric_ray(quadric, ray);
    vec3 point = local.origin + (t - local.start) / local.scale * local.direction;
    // A Newton step along the slope removes the rounding error of the distance.
    vec3 up = vec3(0.0, quadric.linear, 0.0), slope = 2.0 * quadric.squares * point + up;
    float square = dot(slope, slope);
    float value = dot(quadric.squares * point, point) + quadric.linear * point.y + quadric.constant;
    if (square > 0.0) point -= slope * (value / square);
    slope = 2.0 * quadric.squares * point + up;
    mat3 to_outer = transpose(mat3(quadric.linear_x, quadric.linear_y, quadric.linear_z));
    mat3 rows = mat3(quadric.inverse_x.xyz, quadric.inverse_y.xyz, quadric.inverse_z.xyz);
    mat3 spread = mat3(abs(to_outer[0]), abs(to_outer[1]), abs(to_outer[2]));
    mat3 gather = transpose(mat3(abs(rows[0]), abs(rows[1]), abs(rows[2])));
    vec3 place = vec3(quadric.inverse_x.w, quadric.inverse_y.w, quadric.inverse_z.w);
    vec3 turned = to_outer * point, outer_slope = rows * slope;
    vec3 size = max(spread * abs(point), spread * (gather * abs(turned))) + abs(place);
    // The function's rounding error over its slope: the test's distance from the surface.
    float terms = dot(abs(quadric.squares) * point, point) + abs(quadric.linear * point.y) + abs(quadric.constant);
    float steep = length(outer_slope);
    float stretch = steep > 0.0 ? min(terms / steep, 1e3 * largest(size)) : 0.0;
    Geometry at;
    at.position = turned + place;
    at.error = position_error(size, size, size, 10.0 * stretch);
    at.normal = unit_or(outer_slope * quadric.side, -ray.direction);
    at.shading = at.normal;
    at.color = vec3(1.0);
    float azimuth = atan(point.x, point.z) / 6.28318531;
    float v = (point.y - quadric.span.x) * quadric.span.y;
    if (quadric.kind == QUADRIC_BALL) v = atan(length(point.xz), -point.y) / 3.14159265;
    if (quadric.kind == QUADRIC_FLAT) v = (length(point.xz) - quadric.span.x) * quadric.span.y;
    // Around the axis they change by the circumference, along it uniformly; the map's scale is the mean of all
    // directions.
    float around = 6.28318531 * max(length(point.xz), 1e-3 * largest(point));
    float span = quadric.kind == QUADRIC_BALL ? 1.0 / (3.14159265 * length(point)) : abs(quadric.span.y);
    at.uv = vec3(azimuth < 0.0 ? azimuth + 1.0 : azimuth, clamp(v, 0.0, 1.0), 0.5 * log2(span / around));
    at.uv.z -= log2(abs(determinant(to_outer))) / 3.0;
    at.material = 0;
    return at;
}
