// A triangle in the voxels of a grid: the separating axis test of viewer/accel/grid/build.py, row by row of voxels
// along x, in float32 and in the same order of operations. All in voxel units.

uniform vec3 build_low;       // lowest corner of the grid's box, world
uniform vec3 build_scale;     // 1 / edges of a voxel
uniform vec3 build_margin;    // by which voxels are wider, voxels
uniform ivec3 build_resolution;

const float MIN_COMPONENT = 1e-12;  // as in viewer/accel/grid/build.py

struct Corners { vec3 a, b, c; };

// By the exponent's bits: Mesa takes comparisons for those of numbers.
bool finite_point(vec3 point) {
    ivec3 exponents = floatBitsToInt(point) & 0x7f800000;
    return all(notEqual(exponents, ivec3(0x7f800000)));
}

// Whether a triangle is listed: it has three corners, finite and distinct.
bool listed(Triangle triangle) {
    bool finite = finite_point(triangle.a) && finite_point(triangle.b) && finite_point(triangle.c);
    return finite && triangle.a != triangle.b && triangle.b != triangle.c && triangle.c != triangle.a;
}

Corners in_voxels(Triangle triangle) {
    return Corners((triangle.a - build_low) * build_scale, (triangle.b - build_low) * build_scale,
                   (triangle.c - build_low) * build_scale);
}

// The first and last voxel of a triangle's bounds, along each axis; the last lies before the first outside of the grid.
void bounds_of(Corners corners, out ivec3 first, out ivec3 last) {
    vec3 lowest = floor(min(min(corners.a, corners.b), corners.c) - build_margin);
    vec3 highest = floor(max(max(corners.a, corners.b), corners.c) + build_margin);
    first = ivec3(clamp(lowest, vec3(0.0), vec3(build_resolution)));
    last = ivec3(clamp(highest, vec3(-1.0), vec3(build_resolution - 1)));
}

// 1 if the corners are counter-clockwise in (p, q), else -1.
float side_of(vec2 a, vec2 b, vec2 c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) >= 0.0 ? 1.0 : -1.0;
}

// Cuts span, the interval of p at q, by edge c0-c1 of a triangle projected to (p, q); side: side_of its corners; margin:
// by which voxels are wider along p and q.
void cut(vec2 c0, vec2 c1, vec2 c2, float side, vec2 margin, float q, inout vec2 span) {
    float n_p = side * (c0.y - c1.y), n_q = side * (c1.x - c0.x);
    if (abs(n_p) <= MIN_COMPONENT * abs(n_q)) n_p = 0.0;
    float lowest = min(min(n_p * c0.x + n_q * c0.y, n_p * c1.x + n_q * c1.y), n_p * c2.x + n_q * c2.y);
    float reach = n_p > 0.0 ? n_p * (1.0 + margin.x) : -n_p * margin.x;
    reach += n_q > 0.0 ? n_q * (1.0 + margin.y) : -n_q * margin.y;
    float offset = reach - lowest;
    if (n_p == 0.0) {
        if (!(n_q * q + offset >= 0.0)) span = vec2(1.0, 0.0);
        return;
    }
    float p_bound = (-n_q / n_p) * q + (-offset / n_p);
    if (n_p > 0.0) span.x = max(span.x, p_bound);
    else span.y = min(span.y, p_bound);
}

// The same by all three edges.
void cut_by_edges(vec2 a, vec2 b, vec2 c, vec2 margin, float q, inout vec2 span) {
    float side = side_of(a, b, c);
    cut(a, b, c, side, margin, q, span);
    cut(b, c, a, side, margin, q, span);
    cut(c, a, b, side, margin, q, span);
}

// Cuts the interval of x in the row (y, z) by the triangle's plane.
void cut_by_plane(Corners corners, float y, float z, inout vec2 span) {
    vec3 u = corners.b - corners.a, v = corners.c - corners.a;
    vec3 n = vec3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
    if (n.x < 0.0) n = -n;
    if (n.x <= MIN_COMPONENT * max(abs(n.y), abs(n.z))) n.x = 0.0;
    float a = n.x * corners.a.x + n.y * corners.a.y + n.z * corners.a.z;
    float b = n.x * corners.b.x + n.y * corners.b.y + n.z * corners.b.z;
    float c = n.x * corners.c.x + n.y * corners.c.y + n.z * corners.c.z;
    float margin = n.x * build_margin.x + abs(n.y) * build_margin.y + abs(n.z) * build_margin.z;
    float low = min(min(a, b), c) - (n.x + max(n.y, 0.0) + max(n.z, 0.0)) - margin;
    float high = max(max(a, b), c) - (min(n.y, 0.0) + min(n.z, 0.0)) + margin;
    float row_term = n.y * y + n.z * z;
    if (n.x > 0.0) span = vec2(max(span.x, (low - row_term) / n.x), min(span.y, (high - row_term) / n.x));
    else if (row_term < low || row_term > high) span = vec2(1.0, 0.0);
}

// The voxels of the row (y, z) that the triangle overlaps: the first one's x and their number.
ivec2 overlapped(Corners corners, ivec3 first, ivec3 last, int row_y, int row_z) {
    bvec3 spans_several = greaterThan(last, first);
    float y = float(row_y), z = float(row_z);
    vec2 y_span = vec2(first.y, last.y), x_span = vec2(first.x, last.x);
    if (spans_several.y && spans_several.z) cut_by_edges(corners.a.yz, corners.b.yz, corners.c.yz, build_margin.yz, z, y_span);
    if (spans_several.x && spans_several.z) cut_by_edges(corners.a.xz, corners.b.xz, corners.c.xz, build_margin.xz, z, x_span);
    if (spans_several.x && spans_several.y) cut_by_edges(corners.a.xy, corners.b.xy, corners.c.xy, build_margin.xy, y, x_span);
    if (all(spans_several)) cut_by_plane(corners, y, z, x_span);
    if (y < y_span.x || y > y_span.y || x_span.x > x_span.y) return ivec2(0);
    int first_x = int(ceil(x_span.x));
    return ivec2(first_x, max(int(floor(x_span.y)) + 1 - first_x, 0));
}
