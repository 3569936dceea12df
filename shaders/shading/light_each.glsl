// Lights one by one: those without extent first, with the environment's suns, then one point of one of the shining
// triangles, chosen by power through an alias table of their own. Weights are unbiased for each of them, so that with
// the ambient light their sum is all the light there is. Suns and ambient light: viewer/lighting/ambient.py.
// Needs what shading/light.glsl needs, the memory each_lights, and uniforms: int each_punctual, lights without extent;
// int each_levels, quanta of 2^-24 for each slot of the alias table (0: no triangle shines); mat4 each_ambient_red and
// so on, quadratic forms of the normal.
#include "interface/light_each.glsl"
#include "shading/light.glsl"

int each_light_count() {
    return each_punctual + (each_levels > 0 ? 1 : 0);
}

// A point of light number `index`, as seen from a position; false where it sends nothing there.
bool each_light_sample(int index, vec3 position, float choose, vec2 u, out LightSample sampled) {
    sampled = LightSample(vec3(0.0, 1.0, 0.0), LIGHT_LARGEST, vec3(0.0), 0.0);
    int quantum = min(int(choose * 16777216.0), 16777215);
    if (index < each_punctual) {
        Light light = light_now(fetch_each_lights(index));
        if (light.kind != LIGHT_DIRECTIONAL) return sample_point(light, position, sampled);
        sampled.direction = light_direction(light);
        sampled.weight = light.power;
        return true;
    }
    int slot = quantum / each_levels;
    Light first = fetch_each_lights(each_punctual + slot);
    int chosen = quantum - slot * each_levels < first.threshold ? slot : first.alias;
    Light light = light_now(fetch_each_lights(each_punctual + chosen));
    if (LIGHT_SPHERES == 1 && light.kind == LIGHT_SPHERE) return sample_sphere(light, position, u, sampled);
    return sample_triangle(light, position, u, sampled);
}

vec3 ambient_irradiance(vec3 normal) {
    vec4 n = vec4(normal, 1.0);
    vec3 irradiance = vec3(dot(n, each_ambient_red * n), dot(n, each_ambient_green * n), dot(n, each_ambient_blue * n));
    return max(irradiance, vec3(0.0));
}
