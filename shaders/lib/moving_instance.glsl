// The map of an instance at a moment: linear between those of its keys; the inverse of that, as between inverses nothing
// is linear (I. Wald et al., "Embree: A Kernel Framework for Efficient CPU Ray Tracing", 2014).
#ifdef HAVE_MOVING_INSTANCES
// Needs the memory instance_keys and the uniform int instance_segments, keys less one.
#include "lib/moment.glsl"

Instance instance_at(int moment, Instance at) {
    if (at.keys < 0) return at;
    float share;
    int key = at.keys + key_before(moment, instance_segments, share);
    InstanceKey first = fetch_instance_keys(key), last = fetch_instance_keys(key + 1);
    vec3 x = first.linear_x + share * (last.linear_x - first.linear_x);
    vec3 y = first.linear_y + share * (last.linear_y - first.linear_y);
    vec3 z = first.linear_z + share * (last.linear_z - first.linear_z);
    vec3 place = first.place + share * (last.place - first.place);
    // Scaled, so that products of three lengths stay within float32.
    vec3 size = max(max(abs(x), abs(y)), abs(z));
    float scale = 1.0 / max(max(size.x, size.y), max(size.z, 1e-37));
    vec3 a = x * scale, b = y * scale, c = z * scale;
    vec3 across_x = cross(b, c), across_y = cross(c, a), across_z = cross(a, b);
    float inverse = scale / dot(a, across_x);
    at.linear_x = x;
    at.linear_y = y;
    at.linear_z = z;
    at.inverse_x = vec4(vec3(across_x.x, across_y.x, across_z.x) * inverse, place.x);
    at.inverse_y = vec4(vec3(across_x.y, across_y.y, across_z.y) * inverse, place.y);
    at.inverse_z = vec4(vec3(across_x.z, across_y.z, across_z.z) * inverse, place.z);
    return at;
}

// At the time of the ray whose hit is asked about, and of any ray.
Instance instance_now(Instance at) {
    return instance_at(moment_here, at);
}

Instance instance_of_ray(Ray ray, Instance at) {
    return instance_at(moment_of(ray), at);
}
#else
Instance instance_now(Instance at) { return at; }
Instance instance_of_ray(Ray ray, Instance at) { return at; }
#endif
