// Hits that a surface lets pass: by a texture's holes, or at random, as opacity says (glTF 2.0, 3.9.4). The random number
// is a hash of ray, sample and primitive, so that every walk and machine decides alike, and rays that are the same in all
// samples of a pixel pass in their share of these.
#include "interface/tangents.glsl"
#include "interface/texture.glsl"
#include "interface/triangle.glsl"
#include "lib/hash.glsl"

// The opacity of the surface at a hit: 0 or 1 but for blended surfaces.
float opacity_at(Hit hit) {
    Face face = opacity_face(hit);
    Opacity material = fetch_opacities(face.material);
    ivec3 corners = max(face.corners, ivec3(0));
    Vertex a = fetch_vertices(corners.x), b = fetch_vertices(corners.y), c = fetch_vertices(corners.z);
    VertexTangents a_tangents = fetch_tangents(corners.x), b_tangents = fetch_tangents(corners.y), c_tangents = fetch_tangents(corners.z);
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 uv = vec3(a.uv * weights.x + b.uv * weights.y + c.uv * weights.z, TEXTURE_SHARP);
    vec3 uv_1 = vec3(a_tangents.uv_1.xy * weights.x + b_tangents.uv_1.xy * weights.y + c_tangents.uv_1.xy * weights.z, TEXTURE_SHARP);
    float coverage = material.factor * dot(weights, vec3(a_tangents.opacity, b_tangents.opacity, c_tangents.opacity));
    if (face.corners.x >= 0) coverage *= texture_texel(material.texture, uv, uv_1, true).a;
    else coverage = material.factor;
    return material.mode == OPACITY_MASK ? (coverage < material.cutoff ? 0.0 : 1.0) : material.mode == OPACITY_BLEND ? coverage : 1.0;
}

const float MIN_OPACITY = 1.0 / 256.0;  // of a layer: less than a step of 8 bits is nothing

#ifdef HAVE_BLEND
bool opacity_layers() { return opacity_layered == 1; }

uvec3 opacity_number(uvec3 direction, Ray ray) {
    return pcg4d(uvec4(direction, uint(ray.any_hit >> 1))).xyz;
}
#else
bool opacity_layers() { return false; }

uvec3 opacity_number(uvec3 direction, Ray ray) { return direction; }
#endif

// Whether the ray passes through the surface at a hit.
bool opacity_passes(Ray ray, Hit hit) {
    float coverage = opacity_at(hit);
    if (opacity_layers()) return coverage < MIN_OPACITY;
    uvec3 direction = floatBitsToUint(ray.direction), origin = floatBitsToUint(ray.origin);
    uint number = uint(hit.triangle) * 16777259u + uint(hit.instance);
    float u = unit_float(pcg4d(uvec4(opacity_number(direction, ray) ^ (origin << 7u), number)).x);
    return u >= coverage;
}

// Keeps the triangle's hit where it is nearer than `hit`, unless the ray passes through it.
void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    Hit candidate = hit;
    solid_test(ray, setup, address, instance, candidate);
    bool is_new = candidate.triangle != hit.triangle || candidate.instance != hit.instance || candidate.t < hit.t;
    if (is_new && !opacity_passes(ray, candidate)) hit = candidate;
}
