// Where the points that pixels see on deforming objects were in the pose of the picture before: by barycentric coordinates
// in their triangles, of which the corners are known in both poses.
// Needs the streams lit, features, now and past (of `Point`), and the memories faces and instances.
#include "film/denoise/view.glsl"
#include "lib/texel_of.glsl"

uniform vec3 eye;    // of the view, world space
uniform int points;  // vertices of deforming objects, the first ones of all

vec3 weights_in(vec3 place, vec3 a, vec3 b, vec3 c) {
    vec3 u = b - a, v = c - a, p = place - a;
    float uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), pu = dot(p, u), pv = dot(p, v);
    float area = uu * vv - uv * uv;
    if (!(area > 0.0)) return vec3(1.0, 0.0, 0.0);
    // A pixel's mean point may lie beside the triangle that its last sample has hit.
    float second = clamp((vv * pu - uv * pv) / area, 0.0, 1.0), third = clamp((uu * pv - uv * pu) / area, 0.0, 1.0);
    float most = max(second + third, 1.0);
    return vec3(1.0 - (second + third) / most, second / most, third / most);
}

Flow element(ivec2 at) {
    Flow none = Flow(vec3(0.0), vec3(0.0));
    Lit lit = fetch_lit(at);
    Features features = fetch_features(at);
    if (features.triangle < 0 || !(lit.nearness > 0.0)) return none;
    Instance instance = fetch_instances(features.instance);
    ivec3 corners = fetch_faces(instance.face + features.triangle).corners;
    if (corners.x >= points || corners.x < 0) return none;

    int width = textureSize(in_now_0, 0).x;
    ivec2 first = texel_of(corners.x, width), second = texel_of(corners.y, width), third = texel_of(corners.z, width);
    Point a = fetch_now(first), b = fetch_now(second), c = fetch_now(third);
    vec3 origin = vec3(instance.inverse_x.w, instance.inverse_y.w, instance.inverse_z.w);
    mat3 inverse = mat3(instance.inverse_x.xyz, instance.inverse_y.xyz, instance.inverse_z.xyz);  // rows as columns
    vec3 place = (view_through(at) / lit.nearness + (eye - origin)) * inverse;
    vec3 weights = weights_in(place, a.position, b.position, c.position);

    Point was = fetch_past(first), was_b = fetch_past(second), was_c = fetch_past(third);
    mat3 linear = mat3(instance.linear_x, instance.linear_y, instance.linear_z);
    vec3 shift = mat3(was.position - a.position, was_b.position - b.position, was_c.position - c.position) * weights;
    // A normal by the inverse transpose, of which the columns of `inverse` are the rows.
    vec3 now = inverse * (mat3(a.normal, b.normal, c.normal) * weights);
    vec3 then = inverse * (mat3(was.normal, was_b.normal, was_c.normal) * weights);
    vec3 normal_change = then / max(length(then), 1e-30) - now / max(length(now), 1e-30);
    normal_change *= dot(now, lit.normal) < 0.0 ? -1.0 : 1.0;  // the picture's normals are on the ray's side
    return Flow(shift * linear, normal_change);
}
