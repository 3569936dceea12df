#version 330
// The kernels of table 5.1 as the papers describe them, each behind its name; see `counted.py`. What stands before the
// first is common to all.
uniform sampler2D stream0, stream1, stream2, stream3, stream4, stream5, stream6;
uniform sampler2D memory, corner0, corner1, corner2, normal0, normal1, normal2, color0, color1, color2;
uniform vec3 resolution, low, voxel_size, inverse_size, strides, light, ambient, albedo, eye, matrix0, matrix1, matrix2;
uniform vec4 texture_size;  // width, 1 / width, 1 / width, 1 / height
out vec4 out0, out1, out2, out3;

vec4 load(sampler2D stream) { return texelFetch(stream, ivec2(gl_FragCoord.xy), 0); }

// A texel at an address of one dimension.
vec4 fetch_texel(sampler2D table, float at) {
    float row = floor(at * texture_size.y);
    return texture(table, vec2(at - row * texture_size.x, row) * texture_size.zw);
}

vec3 interpolated(sampler2D a, sampler2D b, sampler2D c, float triangle, vec2 weights) {
    return (1.0 - weights.x - weights.y) * fetch_texel(a, triangle).xyz + weights.x * fetch_texel(b, triangle).xyz
        + weights.y * fetch_texel(c, triangle).xyz;
}

// -- Generate Eye Ray
void main() {
    vec2 pixel = gl_FragCoord.xy * texture_size.yw;
    vec3 at = vec3(2.0 * pixel - 1.0, 1.0);
    vec3 direction = normalize(vec3(dot(matrix0, at), dot(matrix1, at), dot(matrix2, at)));
    vec3 inverse = 1.0 / direction;
    vec3 first = (low - eye) * inverse, last = (low + resolution * voxel_size - eye) * inverse;
    vec3 nearer = min(first, last), farther = max(first, last);
    float enters = max(max(nearer.x, nearer.y), max(nearer.z, 0.0));
    float leaves = min(min(farther.x, farther.y), farther.z);
    out0 = vec4(direction, enters);
    out1 = vec4(enters <= leaves ? 1.0 : 0.0);
}

// -- Traverse: Setup
void main() {
    vec3 origin = load(stream0).xyz;
    vec4 ray1 = load(stream1);
    vec3 direction = ray1.xyz, inverse = 1.0 / direction;
    vec3 sides = vec3(greaterThan(direction, vec3(0.0)));
    vec3 voxel = floor((origin + ray1.w * direction - low) * inverse_size);
    vec3 t_max = (low + (voxel + sides) * voxel_size - origin) * inverse;
    vec3 t_delta = abs(voxel_size * inverse);
    out0 = vec4(voxel, 1.0);
    out1 = vec4(t_max, 0.0);
    out2 = vec4(t_delta, 0.0);
    out3 = vec4(2.0 * sides - 1.0, 0.0);
}

// -- Traverse: Step
void main() {
    vec4 place = load(stream0);
    vec3 t_max = load(stream1).xyz, t_delta = load(stream2).xyz, side = load(stream3).xyz;
    float list = fetch_texel(memory, dot(place.xyz, strides)).x;
    vec3 least = step(t_max.xyz, t_max.yzx) * step(t_max.xyz, t_max.zxy);
    float t_exit = dot(least, t_max);
    vec3 voxel = place.xyz + least * side;
    t_max += least * t_delta;
    bool outside = any(lessThan(voxel, vec3(0.0))) || any(greaterThanEqual(voxel, resolution));
    float state = list >= 0.0 ? 2.0 : outside || place.w < t_exit ? 0.0 : 1.0;
    out0 = vec4(voxel, list);
    out1 = vec4(t_max, t_exit);
    out2 = vec4(state);
}

// -- Intersect
void main() {
    vec3 origin = load(stream0).xyz, direction = load(stream1).xyz;
    vec4 walk = load(stream2), best = load(stream3);
    float triangle = fetch_texel(memory, walk.x).x;
    vec3 a = fetch_texel(corner0, triangle).xyz;
    vec3 u = fetch_texel(corner1, triangle).xyz - a, v = fetch_texel(corner2, triangle).xyz - a;
    vec3 p = cross(direction, v), s = origin - a, q = cross(s, u);
    float inverse = 1.0 / dot(u, p);
    vec3 hit = vec3(dot(v, q), dot(s, p), dot(direction, q)) * inverse;
    bool valid = all(greaterThanEqual(hit, vec3(0.0))) && hit.y + hit.z <= 1.0 && hit.x < min(best.x, walk.y);
    best = valid ? vec4(hit, triangle) : best;
    out0 = triangle < 0.0 ? vec4(-1.0) : best;
    out1 = vec4(walk.x + 1.0, triangle < 0.0 ? (best.w >= 0.0 ? 3.0 : 1.0) : 2.0, 0.0, 0.0);
}

// -- Shade: Color
void main() {
    vec4 ray0 = load(stream0), ray1 = load(stream1), hit = load(stream2);
    vec3 at = ray0.xyz + hit.x * ray1.xyz;

    vec3 normal = normalize(interpolated(normal0, normal1, normal2, hit.w, hit.yz));
    vec3 color = albedo * interpolated(color0, color1, color2, hit.w, hit.yz);
    out0 = vec4(color * (ambient + max(dot(normal, normalize(light - at)), 0.0)), 1.0);
}

// -- Shade: Shadow
void main() {
    vec4 ray0 = load(stream0), ray1 = load(stream1), hit = load(stream2);
    vec3 at = ray0.xyz + hit.x * ray1.xyz;

    vec3 to = light - at;
    float inverse = inversesqrt(dot(to, to));
    out0 = vec4(at + 1e-3 * to, 1.0 / inverse);
    out1 = vec4(to * inverse, hit.w >= 0.0 ? 1.0 : 0.0);
}

// -- Shade: Reflected
void main() {
    vec4 ray0 = load(stream0), ray1 = load(stream1), hit = load(stream2);
    vec3 at = ray0.xyz + hit.x * ray1.xyz;

    vec3 normal = normalize(interpolated(normal0, normal1, normal2, hit.w, hit.yz));
    vec3 direction = reflect(ray1.xyz, normal);
    out0 = vec4(at + 1e-3 * direction, 0.0);
    out1 = vec4(direction, hit.w >= 0.0 ? 1.0 : 0.0);
    out2 = load(stream3) * vec4(albedo, 1.0);
}

// -- Shade: Path
void main() {
    vec4 ray0 = load(stream0), ray1 = load(stream1), hit = load(stream2);
    vec3 at = ray0.xyz + hit.x * ray1.xyz;

    vec3 normal = normalize(interpolated(normal0, normal1, normal2, hit.w, hit.yz));
    vec3 direction = normalize(normal + load(stream4).xyz);  // a point of a sphere, from the texture of random numbers
    out0 = vec4(at + 1e-3 * direction, 0.0);
    out1 = vec4(direction, hit.w >= 0.0 ? 1.0 : 0.0);
    out2 = load(stream3) * vec4(albedo, 1.0);
}

// -- Traverse: Step, axis by axis
void main() {
    vec4 place = load(stream0), ray0 = load(stream4), ray1 = load(stream5);
    vec3 t_max = load(stream1).xyz, t_delta = load(stream2).xyz, side = load(stream3).xyz, voxel = place.xyz;
    float list = fetch_texel(memory, dot(voxel, strides)).x, t_exit = t_max.x;
    bool outside = false;
    if (t_max.x <= t_max.y && t_max.x <= t_max.z) {
        voxel.x += side.x;
        t_max.x += t_delta.x;
        outside = voxel.x < 0.0 || voxel.x >= resolution.x;
    } else if (t_max.y <= t_max.z) {
        t_exit = t_max.y;
        voxel.y += side.y;
        t_max.y += t_delta.y;
        outside = voxel.y < 0.0 || voxel.y >= resolution.y;
    } else {
        t_exit = t_max.z;
        voxel.z += side.z;
        t_max.z += t_delta.z;
        outside = voxel.z < 0.0 || voxel.z >= resolution.z;
    }
    out0 = vec4(voxel, list);
    out1 = vec4(t_max, t_exit);
    out2 = vec4(list >= 0.0 ? 2.0 : outside || place.w < t_exit ? 0.0 : 1.0, ray0.xyz);
    out3 = ray1;
}
