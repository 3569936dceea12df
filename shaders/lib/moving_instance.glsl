// The map of an instance at a moment: linear between those of its keys; the inverse of that, as between inverses nothing
// is linear (I. Wald et al., "Embree: A Kernel Framework for Efficient CPU Ray Tracing", 2014).
#ifdef HAVE_MOVING_INSTANCES
// An instance with its map at a moment. Needs the memory instance_keys and the uniform int instance_segments, keys less one.
#include "lib/moment.glsl"

Instance instance_at(int moment, Instance placement) {
    if (placement.keys < 0) return placement;
    float fraction;
    int key = placement.keys + key_before(moment, instance_segments, fraction);
    InstanceKey first_key = fetch_instance_keys(key), next_key = fetch_instance_keys(key + 1);
    vec3 x = first_key.linear_x + fraction * (next_key.linear_x - first_key.linear_x);
    vec3 y = first_key.linear_y + fraction * (next_key.linear_y - first_key.linear_y);
    vec3 z = first_key.linear_z + fraction * (next_key.linear_z - first_key.linear_z);
    vec3 translation = first_key.place + fraction * (next_key.place - first_key.place);
    // Scaled, so that products of three lengths stay within float32.
    vec3 magnitude = max(max(abs(x), abs(y)), abs(z));
    float scale = 1.0 / max(max(magnitude.x, magnitude.y), max(magnitude.z, 1e-37));
    vec3 a = x * scale, b = y * scale, c = z * scale;
    vec3 yz = cross(b, c), zx = cross(c, a), xy = cross(a, b);
    float inverse_scale = scale / dot(a, yz);
    placement.linear_x = x;
    placement.linear_y = y;
    placement.linear_z = z;
    placement.inverse_x = vec4(vec3(yz.x, zx.x, xy.x) * inverse_scale, translation.x);
    placement.inverse_y = vec4(vec3(yz.y, zx.y, xy.y) * inverse_scale, translation.y);
    placement.inverse_z = vec4(vec3(yz.z, zx.z, xy.z) * inverse_scale, translation.z);
    return placement;
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
