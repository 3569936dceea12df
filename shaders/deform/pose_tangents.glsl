// Tangent, second texture coordinates and opacity of a vertex of a deforming object in its pose; see pose_vertex.glsl.
// A tangent goes by the blended map itself, and changes its sign where that mirrors.
#include "deform/blend.glsl"
#include "deform/finite.glsl"

uniform int count;  // vertices

// The posed tangent, second coordinates and opacity of a vertex, by its number.
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
        AttributeDelta delta = fetch_attribute_deltas(rest.delta + k);
        tangent.xyz += weight * delta.tangent;
        uv_1 += weight * delta.uv_1;
        opacity += weight * delta.color.a;
    }
    if (rest.deltas > 0) opacity = clamp(opacity, 0.0, 1.0);
#endif
    if (skinned(rest)) {
        Blend blend = blended(rest);
        vec3 magnitude = max(max(abs(blend.x.xyz), abs(blend.y.xyz)), abs(blend.z.xyz));
        float scale = 1.0 / max(max(max(magnitude.x, magnitude.y), magnitude.z), 1e-30);
        vec3 x = blend.x.xyz * scale, y = blend.y.xyz * scale, z = blend.z.xyz * scale;
        tangent = vec4(dot(x, tangent.xyz), dot(y, tangent.xyz), dot(z, tangent.xyz), tangent.w);
        if (dot(x, cross(y, z)) < 0.0) tangent.w = -tangent.w;
    }
    return VertexTangents(vec4(direction_or(tangent.xyz, attributes.tangent.xyz), tangent.w), vec3(uv_1, 0.0), opacity);
}
