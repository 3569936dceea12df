// Vertex program of the feed-forward pass: a triangle's three vertices on the screen, a little larger than it, so that
// no pixel whose ray hits it is left out by the rasteriser's rounding; the fragment program decides.
// The edges are moved outwards, as in J. Hasselgren, T. Akenine-Moeller and L. Ohlsson, "Conservative Rasterization"
// (GPU Gems 2, 2005, chapter 42), here by MARGIN alone, since rays go through one point of a pixel. Where that would
// throw a corner far away, or the triangle is small, a box along its longest edge takes its place; where it reaches
// behind the camera or far beyond the picture, the part of the picture that it may be seen in. A box is drawn as half
// of one twice as large.
// Coordinates on the film are pixels, homogeneous: (x, y, 1) * depth along the view. Needs: the memories faces,
// vertices and drawn; the camera's uniforms; and the uniforms below.
#include "lib/filter.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"

uniform ivec2 raster_origin;  // the picture's pixel in the lower left texel
uniform ivec2 raster_size;    // texels that are drawn
uniform int raster_number;    // of the sample

flat out int drawn_address;  // of the triangle that is tested

const float MARGIN = 0.0625;     // pixels: 16 steps of a rasteriser with 8 bits below the pixel
const float MIN_SHARPNESS = 0.005;       // 1 - cosine of a corner's angle: 6 degrees, where it moves by 20 margins
const float FARTHEST = 16384.0;  // pixels: so far from the picture float32 knows places to 1/256 pixel

// A point, world space, in homogeneous pixels from the lower left texel; shift: of that texel, pixels.
vec3 on_film(vec3 point, vec2 shift) {
    vec3 offset = point - camera_origin;
    float depth = dot(offset, camera_forward);
    float right = dot(offset, camera_right) / dot(camera_right, camera_right);
    float down = -dot(offset, camera_up) / dot(camera_up, camera_up);
    return vec3((vec2(right, down) + depth) / camera_texel - shift * depth, depth);
}

// Corner k = 0, 1, 2 of a triangle over the box from low to high.
vec2 over_box(vec2 low, vec2 high, int k) {
    return low + 2.0 * (high - low) * vec2(k == 1, k == 2);
}

// Extends the box by what is seen of an edge that crosses the plane of the camera, from a corner before it to one behind:
// towards that plane the edge goes to infinity.
void include_edge(vec3 front, vec3 behind, inout vec2 low, inout vec2 high) {
    if (!(front.z > 0.0) || behind.z > 0.0) return;
    vec2 front_scaled = front.z * behind.xy, behind_scaled = behind.z * front.xy;
    vec2 delta = front_scaled - behind_scaled, rounding = 1e-5 * (abs(front_scaled) + abs(behind_scaled));
    low = mix(low, vec2(-FARTHEST), lessThanEqual(delta, rounding));
    high = mix(high, vec2(FARTHEST), greaterThanEqual(delta, -rounding));
}

// The unit normal of an edge of the triangle, away from it. winding: 1 if its corners are counter-clockwise, else -1.
vec2 outward(vec2 from, vec2 to, float winding) {
    vec2 direction = normalize(to - from);
    return winding * vec2(direction.y, -direction.x);
}

// Corner k of a triangle over the triangle a, b, c, all in front of the camera, enlarged by MARGIN.
vec2 enlarged_corner(vec2 a, vec2 b, vec2 c, int k) {
    vec2 ab = b - a, bc = c - b, ca = a - c;
    float double_area = ab.x * bc.y - ab.y * bc.x, winding = double_area < 0.0 ? -1.0 : 1.0;
    if (abs(double_area) > 16.0) {
        vec2 out_ab = outward(a, b, winding), out_bc = outward(b, c, winding), out_ca = outward(c, a, winding);
        vec3 sharpness = 1.0 + vec3(dot(out_ca, out_ab), dot(out_ab, out_bc), dot(out_bc, out_ca));
        if (min(sharpness.x, min(sharpness.y, sharpness.z)) > MIN_SHARPNESS) {
            if (k == 0) return a + (MARGIN / sharpness.x) * (out_ca + out_ab);
            if (k == 1) return b + (MARGIN / sharpness.y) * (out_ab + out_bc);
            return c + (MARGIN / sharpness.z) * (out_bc + out_ca);
        }
    }
    vec3 lengths2 = vec3(dot(ab, ab), dot(bc, bc), dot(ca, ca));
    float longest2 = max(lengths2.x, max(lengths2.y, lengths2.z));
    vec2 axis = vec2(1.0, 0.0);
    if (longest2 > 0.0) axis = (lengths2.x == longest2 ? ab : lengths2.y == longest2 ? bc : ca) / sqrt(longest2);
    mat2 axes = mat2(axis, vec2(-axis.y, axis.x));
    vec2 to_b = ab * axes, to_c = -ca * axes;  // seen from a, along and across the longest edge
    vec2 low = min(min(to_b, to_c), 0.0) - MARGIN, high = max(max(to_b, to_c), 0.0) + MARGIN;
    return a + axes * over_box(low, high, k);
}

void main() {
    int number = gl_VertexID / 3, k = gl_VertexID - 3 * number;
    Drawn drawn = fetch_drawn(number);
    Face face = fetch_faces(drawn.number);
    vec2 shift = vec2(raster_origin) + filter_offset(camera_filter, sample_2d(ivec2(0), raster_number, 0));
    vec3 a = on_film(fetch_vertices(face.corners.x).position, shift);
    vec3 b = on_film(fetch_vertices(face.corners.y).position, shift);
    vec3 c = on_film(fetch_vertices(face.corners.z).position, shift);
    drawn_address = drawn.address;
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);  // outside
    bvec3 is_in_front = greaterThan(vec3(a.z, b.z, c.z), vec3(0.0));
    if (!any(is_in_front)) return;
    vec2 low = vec2(FARTHEST), high = -low;
    vec3 depth = mix(vec3(1.0), vec3(a.z, b.z, c.z), is_in_front);
    vec2 at_a = a.xy / depth.x, at_b = b.xy / depth.y, at_c = c.xy / depth.z;
    if (is_in_front.x) low = min(low, at_a), high = max(high, at_a);
    if (is_in_front.y) low = min(low, at_b), high = max(high, at_b);
    if (is_in_front.z) low = min(low, at_c), high = max(high, at_c);
    vec2 position;
    if (all(is_in_front) && all(greaterThan(low, vec2(-FARTHEST))) && all(lessThan(high, vec2(FARTHEST)))) {
        position = enlarged_corner(at_a, at_b, at_c, k);
    } else {
        include_edge(a, b, low, high);
        include_edge(b, a, low, high);
        include_edge(b, c, low, high);
        include_edge(c, b, low, high);
        include_edge(c, a, low, high);
        include_edge(a, c, low, high);
        vec2 size = vec2(raster_size) + 1.0;
        low = clamp(low - 1.0, vec2(-1.0), size);
        high = clamp(high + 1.0, vec2(-1.0), size);
        position = over_box(low, high, k);
    }
    gl_Position = vec4(2.0 * position / vec2(raster_size) - 1.0, 0.0, 1.0);
}
