// Tangent, second texture coordinates and opacity of a vertex of a deforming object in its pose; see pose_vertex.glsl.
// A tangent goes by the blended map itself, and changes its sign where that mirrors.
#include "deform/blend.glsl"
#include "deform/finite.glsl"

uniform int count;  // vertices

VertexTangents element(int number) {
    number = min(number, count - 1);  // lanes beyond may run along for their neighbours
    Rest rest = fetch_rest(number);
    VertexAttributes attributes = fetch_vertex_attributes(number);
    vec4 tangent = attributes.tangent;
    vec2 uv_1 = attributes.uv_1;
    float opacity = attributes.color.a;
#ifdef HAVE_TARGETS
    for (int k = 0; k < rest.deltas; k++) {
        float weight = fetch_morphs(fetch_deltas(rest.delta + k).target).weight;
        if (weight == 0.0) continue;
        AttributeDelta change = fetch_attribute_deltas(rest.delta + k);
        tangent.xyz += weight * change.tangent;
        uv_1 += weight * change.uv_1;
        opacity += weight * change.color.a;
    }
    if (rest.deltas > 0) opacity = clamp(opacity, 0.0, 1.0);
#endif
    if (skinned(rest)) {
        Blend to = blended(rest);
        vec3 size = max(max(abs(to.x.xyz), abs(to.y.xyz)), abs(to.z.xyz));
        float scale = 1.0 / max(max(max(size.x, size.y), size.z), 1e-30);
        vec3 x = to.x.xyz * scale, y = to.y.xyz * scale, z = to.z.xyz * scale;
        tangent = vec4(dot(x, tangent.xyz), dot(y, tangent.xyz), dot(z, tangent.xyz), tangent.w);
        if (dot(x, cross(y, z)) < 0.0) tangent.w = -tangent.w;
    }
    return VertexTangents(vec4(direction_or(tangent.xyz, attributes.tangent.xyz), tangent.w), vec3(uv_1, 0.0), opacity);
}
