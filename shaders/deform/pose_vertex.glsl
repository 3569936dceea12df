// A vertex of a deforming object in its pose: morph targets first, then joints (glTF 2.0, Khronos, 2021, 3.7.2.2 and
// 3.7.3.3). Its twin in float64 is viewer/scene/deform.py.
// Normals are turned by the cofactors of the blended map: its inverse transpose, but for a factor.
#include "deform/blend.glsl"
#include "deform/finite.glsl"

uniform int count;  // vertices

// A posed vertex, by its number.
Vertex element(int number) {
    number = min(number, count - 1);  // lanes beyond may run along for their neighbours
    Rest rest = fetch_rest(number);
    vec3 position = rest.position, normal = rest.normal;
#ifdef HAVE_ATTRIBUTES
    VertexAttributes attributes = fetch_vertex_attributes(number);
    vec3 color = attributes.color.rgb;
    vec2 uv = attributes.uv;
#else
    Vertex rest_vertex = fetch_vertices(number);
    vec3 color = rest_vertex.color;
    vec2 uv = rest_vertex.uv;
#endif
#ifdef HAVE_TARGETS
    for (int k = 0; k < rest.deltas; k++) {
        Delta delta = fetch_deltas(rest.delta + k);
        float weight = fetch_morphs(delta.target).weight;
        if (weight == 0.0) continue;
        position += weight * delta.position;
        normal += weight * delta.normal;
#ifdef HAVE_ATTRIBUTES
        AttributeDelta attribute_delta = fetch_attribute_deltas(rest.delta + k);
        color += weight * attribute_delta.color.rgb;
        uv += weight * attribute_delta.uv;
#endif
    }
#ifdef HAVE_ATTRIBUTES
    if (rest.deltas > 0) color = clamp(color, 0.0, 1.0);
#endif
#endif
    if (skinned(rest)) {
        Blend blend = blended(rest);
        vec4 homogeneous = vec4(position, 1.0);
        position = vec3(dot(blend.x, homogeneous), dot(blend.y, homogeneous), dot(blend.z, homogeneous));
        vec3 magnitude = max(max(abs(blend.x.xyz), abs(blend.y.xyz)), abs(blend.z.xyz));
        float scale = 1.0 / max(max(max(magnitude.x, magnitude.y), magnitude.z), 1e-30);
        vec3 x = blend.x.xyz * scale, y = blend.y.xyz * scale, z = blend.z.xyz * scale;
        vec3 y_cross_z = cross(y, z);
        float orientation = dot(x, y_cross_z) < 0.0 ? -1.0 : 1.0;
        normal = orientation * vec3(dot(y_cross_z, normal), dot(cross(z, x), normal), dot(cross(x, y), normal));
    }
    if (!within(position, LARGEST_COORDINATE)) position = nowhere();
    return Vertex(position, direction_or(normal, rest.normal), color, uv);
}
