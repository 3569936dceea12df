// Lights that move while the shutter is open, linear between their keys; others stay where they are.
#ifdef HAVE_MOVING_LIGHTS
// Needs the memory light_keys and the uniform int light_segments, keys less one.
#include "lib/moment.glsl"

// A light where it is at the time of the path.
Light light_now(Light light) {
    if (light.keys < 0) return light;
    float fraction;
    int key = light.keys + key_before(moment_here, light_segments, fraction);
    LightKey first_key = fetch_light_keys(key), next_key = fetch_light_keys(key + 1);
    light.position = first_key.position + fraction * (next_key.position - first_key.position);
    light.edge1 = first_key.edge1 + fraction * (next_key.edge1 - first_key.edge1);
    light.edge2 = first_key.edge2 + fraction * (next_key.edge2 - first_key.edge2);
    if (light.kind == LIGHT_SPOT || light.kind == LIGHT_DIRECTIONAL) light.edge1 = normalize(light.edge1);
    return light;
}
#else
Light light_now(Light light) { return light; }
#endif
