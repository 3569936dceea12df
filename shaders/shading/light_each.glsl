// Lights one by one: those without extent first, then one point of one of the shining triangles, chosen by power
// through an alias table of their own, then one direction of the environment. Weights are unbiased for each of them, so
// that their sum is all the light there is.
// Needs what shading/light.glsl needs, the memory each_lights, and uniforms: int each_punctual, lights without extent;
// int each_levels, quanta of 2^-24 for each slot of the alias table (0: no triangle shines); int each_environment, 0 or
// 1.
#include "interface/light_each.glsl"
#include "shading/light.glsl"

int each_light_count() {
    return each_punctual + (each_levels > 0 ? 1 : 0) + each_environment;
}

bool each_light_sample(int index, vec3 position, float choose, vec2 u, out LightSample found) {
    found = LightSample(vec3(0.0, 1.0, 0.0), LIGHT_LARGEST, vec3(0.0), 0.0);
    int quantum = min(int(choose * 16777216.0), 16777215);
    if (index < each_punctual) {
        Light light = fetch_each_lights(index);
        if (light.kind != LIGHT_DIRECTIONAL) return sample_point(light, position, found);
        found.direction = light.along;
        found.weight = light.power;
        return true;
    }
    if (index == each_punctual && each_levels > 0) {
        int slot = quantum / each_levels;
        Light first = fetch_each_lights(each_punctual + slot);
        int chosen = quantum - slot * each_levels < first.threshold ? slot : first.alias;
        return sample_triangle(fetch_each_lights(each_punctual + chosen), position, u, found);
    }
    environment_sample(u, quantum / (16777216 / ENVIRONMENT_LEVELS), false, found.direction, found.pdf);
    if (!(found.pdf > 0.0)) return false;
    found.weight = min(environment_radiance(found.direction) / found.pdf, LIGHT_LARGEST);
    return true;
}
