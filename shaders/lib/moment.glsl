// The time of a ray while the shutter is open, as Ray.any_hit bears it above bit 0: one of 2^16 even moments, 0 as it
// opens, which is that of rays without a path. What moves has its poses at even times, the keys, and is linear in between.
#include "lib/int_of.glsl"

// Of the last geometry_at, or of the path whose light is sampled.
int moment_here;

int moment_of(Ray ray) {
    return (ray.any_hit >> 1) & 65535;
}

// The key before a moment, of segments + 1 keys; fraction: of the way to the next one.
int key_before(int moment, int segments, out float fraction) {
    float position = float(moment) * (float(segments) / 65536.0);
    int key = min(int_of(floor(position)), segments - 1);
    fraction = position - float(key);
    return key;
}
