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
const float SHARP = 0.005;       // 1 - cosine of a corner's angle: 6 degrees, where it moves by 20 margins
const float FARTHEST = 16384.0;  // pixels: so far from the picture float32 knows places to 1/256 pixel

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

// Grows the box by what is seen of an edge that crosses the plane of the camera, from a corner before it to one behind:
// towards that plane the edge goes to infinity.
void grow(vec3 before, vec3 behind, inout vec2 low, inout vec2 high) {
    if (!(before.z > 0.0) || behind.z > 0.0) return;
    vec2 near = before.z * behind.xy, far = behind.z * before.xy;
    vec2 delta = near - far, rounding = 1e-5 * (abs(near) + abs(far));
    low = mix(low, vec2(-FARTHEST), lessThanEqual(delta, rounding));
    high = mix(high, vec2(FARTHEST), greaterThanEqual(delta, -rounding));
}

vec2 outward(vec2 from, vec2 to, float winding) {
    vec2 direction = normalize(to - from);
    return winding * vec2(direction.y, -direction.x);
}

vec2 in_front(vec2 a, vec2 b, vec2 c, int k) {
    vec2 ab = b - a, bc = c - b, ca = a - c;
    float twice = ab.x * bc.y - ab.y * bc.x, winding = twice < 0.0 ? -1.0 : 1.0;
    if (abs(twice) > 16.0) {
        vec2 out_ab = outward(a, b, winding), out_bc = outward(b, c, winding), out_ca = outward(c, a, winding);
        vec3 wide = 1.0 + vec3(dot(out_ca, out_ab), dot(out_ab, out_bc), dot(out_bc, out_ca));
        if (min(wide.x, min(wide.y, wide.z)) > SHARP) {
            if (k == 0) return a + (MARGIN / wide.x) * (out_ca + out_ab);
            if (k == 1) return b + (MARGIN / wide.y) * (out_ab + out_bc);
            return c + (MARGIN / wide.z) * (out_bc + out_ca);
        }
    }
    vec3 lengths = vec3(dot(ab, ab), dot(bc, bc), dot(ca, ca));
    float most = max(lengths.x, max(lengths.y, lengths.z));
    vec2 axis = vec2(1.0, 0.0);
    if (most > 0.0) axis = (lengths.x == most ? ab : lengths.y == most ? bc : ca) / sqrt(most);
    mat2 turned = mat2(axis, vec2(-axis.y, axis.x));
    vec2 to_b = ab * turned, to_c = -ca * turned;  // seen from a, along and across the longest edge
    vec2 low = min(min(to_b, to_c), 0.0) - MARGIN, high = max(max(to_b, to_c), 0.0) + MARGIN;
    return a + turned * over_box(low, high, k);
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
    bvec3 before = greaterThan(vec3(a.z, b.z, c.z), vec3(0.0));
    if (!any(before)) return;
    vec2 low = vec2(FARTHEST), high = -low;
    vec3 depth = mix(vec3(1.0), vec3(a.z, b.z, c.z), before);
    vec2 at_a = a.xy / depth.x, at_b = b.xy / depth.y, at_c = c.xy / depth.z;
    if (before.x) low = min(low, at_a), high = max(high, at_a);
    if (before.y) low = min(low, at_b), high = max(high, at_b);
    if (before.z) low = min(low, at_c), high = max(high, at_c);
    vec2 at;
    if (all(before) && all(greaterThan(low, vec2(-FARTHEST))) && all(lessThan(high, vec2(FARTHEST)))) {
        at = in_front(at_a, at_b, at_c, k);
    } else {
        grow(a, b, low, high);
        grow(b, a, low, high);
        grow(b, c, low, high);
        grow(c, b, low, high);
        grow(c, a, low, high);
        grow(a, c, low, high);
        vec2 size = vec2(raster_size) + 1.0;
        low = clamp(low - 1.0, vec2(-1.0), size);
        high = clamp(high + 1.0, vec2(-1.0), size);
        at = over_box(low, high, k);
    }
    gl_Position = vec4(2.0 * at / vec2(raster_size) - 1.0, 0.0, 1.0);
}
