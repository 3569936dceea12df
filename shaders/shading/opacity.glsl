// Hits that a surface lets pass: by a texture's holes, or at random, as opacity says (glTF 2.0, 3.9.4). The random number
// is a hash of ray, sample and primitive, so that every walk and machine decides alike, and rays that are the same in all
// samples of a pixel pass in their share of these.
#include "interface/detail.glsl"
#include "interface/texture.glsl"
#include "interface/triangle.glsl"
#include "lib/hash.glsl"

#ifdef HAVE_BLEND
const float LEAST_OPACITY = 1.0 / 256.0;  // of a layer: less than a step of 8 bits is nothing

#endif
float opacity_at(Hit hit) {
    Face face = opacity_face(hit);
    Opacity own = fetch_opacities(face.material);
    ivec3 corners = max(face.corners, ivec3(0));
    Vertex a = fetch_vertices(corners.x), b = fetch_vertices(corners.y), c = fetch_vertices(corners.z);
    Detail p = fetch_details(corners.x), q = fetch_details(corners.y), r = fetch_details(corners.z);
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 uv = vec3(a.uv * weights.x + b.uv * weights.y + c.uv * weights.z, TEXTURE_SHARP);
    vec3 uv_1 = vec3(p.uv_1.xy * weights.x + q.uv_1.xy * weights.y + r.uv_1.xy * weights.z, TEXTURE_SHARP);
    float covers = own.factor * dot(weights, vec3(p.opacity, q.opacity, r.opacity));
    if (face.corners.x >= 0) covers *= texture_texel(own.texture, uv, uv_1, true).a;
    else covers = own.factor;
    return own.mode == OPACITY_MASK ? (covers < own.cutoff ? 0.0 : 1.0) : own.mode == OPACITY_BLEND ? covers : 1.0;
}

bool opacity_passes(Ray ray, Hit hit) {
    float covers = opacity_at(hit);
#ifdef HAVE_BLEND
    if (opacity_layered == 1) return covers < LEAST_OPACITY;
#endif
    uvec3 way = floatBitsToUint(ray.direction), from = floatBitsToUint(ray.origin);
    uint number = uint(hit.triangle) * 16777259u + uint(hit.instance);
#ifdef HAVE_BLEND
    way = pcg4d(uvec4(way, uint(ray.any_hit >> 1))).xyz;
#endif
    float u = unit_float(pcg4d(uvec4(way ^ (from << 7u), number)).x);
    return u >= covers;
}

void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    Hit found = hit;
    solid_test(ray, setup, address, instance, found);
    bool other = found.triangle != hit.triangle || found.instance != hit.instance || found.t < hit.t;
    if (other && !opacity_passes(ray, found)) hit = found;
}
