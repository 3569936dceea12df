// All lights in one list; one random number chooses, in whole numbers of 2^-24, of which the first environment_levels are
// the environment's. Which light the others choose is said by light_by_power.glsl, or light_by_tree.glsl.
// Triangles and spheres are sampled uniformly by area and shine from their front face, or from both; points, spots and directional
// lights have no extent. A spot's falloff is that of KHR_lights_punctual.
// The densities are whole quanta, the weights divide by what is there; found.pdf of a triangle is the one of its
// material, equal but for that rounding, so that whoever meets the surface by chance finds the same number.
#include "interface/environment.glsl"
#include "interface/light.glsl"
#include "shading/light_moving.glsl"

// What lights that are no triangles have in their two edges.
vec3 light_direction(Light light) { return light.edge1; }  // of a spot's axis; to a directional light
vec2 light_falloff(Light light) { return light.edge2.xy; }  // of a spot, by the cosine: scale and offset
float light_radius(Light light) { return light.edge1.x; }
float light_side(Light light) { return light.edge1.y; }  // of a sphere: 1 outwards, -1 inwards

// The share of a spot's intensity at a cosine to its axis.
float spot_share(Light light, float cosine) {
    float falloff = clamp(cosine * light_falloff(light).x + light_falloff(light).y, 0.0, 1.0);
    return falloff * falloff;
}

// Barycentric weights of the second and third corner: the square folded onto the triangle without a square root, which
// keeps samples apart (Heitz, A Low-Distortion Map Between Triangle and Square, 2019).
vec2 triangle_point(vec2 u) {
    return u.y > u.x ? vec2(0.5 * u.x, u.y - 0.5 * u.x) : vec2(u.x - 0.5 * u.y, 0.5 * u.y);
}

// The texture's part of a triangle's light, by the weights of its second and third corner.
#ifdef HAVE_TEXTURED_LIGHTS
#include "interface/texture.glsl"

vec3 light_texel(Light light, vec2 weights) {
    return texture_color(
        light.texture, vec3(light.uv + weights.x * light.uv_edge1 + weights.y * light.uv_edge2, TEXTURE_SHARP)
    );
}
#else
vec3 light_texel(Light light, vec2 weights) { return vec3(1.0); }
#endif

// Whether it shines from both sides; the density with which a point of it is chosen, for either side; and the cosine at
// which it is seen.
#ifdef HAVE_BOTH_SIDES
bool light_both(Light light) { return light.density < 0.0; }
float light_density(Light light) { return abs(light.density); }
float light_facing(Light light, float cosine) { return light.density < 0.0 ? abs(cosine) : cosine; }
#else
bool light_both(Light light) { return false; }
float light_density(Light light) { return light.density; }
float light_facing(Light light, float cosine) { return cosine; }
#endif

// A point of a triangle, uniform by area, as seen from a position; false where it sends nothing there.
bool sample_triangle(Light light, vec3 position, vec2 u, inout LightSample sampled) {
    vec2 weights = triangle_point(u);
    vec3 offset = light.position - position + weights.x * light.edge1 + weights.y * light.edge2;
    float distance2 = dot(offset, offset);
    if (!(distance2 > 0.0)) return false;
    sampled.distance = sqrt(distance2);
    sampled.direction = offset / sampled.distance;
    vec3 normal = cross(light.edge1, light.edge2);  // as long as twice the area
    float facing = light_facing(light, -dot(normal, sampled.direction));
    if (!(facing > 0.0)) return false;
    vec3 weight = min(light.power * min(0.5 * facing / distance2, LIGHT_LARGEST), LIGHT_LARGEST);
    sampled.pdf = min(light_density(light) * distance2 * (length(normal) / facing), LIGHT_LARGEST);
    sampled.weight = weight * light_texel(light, weights);
    return true;
}

// A unit vector, uniform over the sphere.
vec3 sphere_point(vec2 u) {
    float z = 1.0 - 2.0 * u.x, radius = sqrt(max(0.0, 1.0 - z * z));
    return vec3(radius * cos(6.28318531 * u.y), radius * sin(6.28318531 * u.y), z);
}

// A point of a sphere, uniform by area, as seen from a position; false where it sends nothing there.
bool sample_sphere(Light light, vec3 position, vec2 u, inout LightSample sampled) {
    vec3 outwards = sphere_point(u);
    vec3 offset = light.position - position + light_radius(light) * outwards;
    float distance2 = dot(offset, offset);
    if (!(distance2 > 0.0)) return false;
    sampled.distance = sqrt(distance2);
    sampled.direction = offset / sampled.distance;
    float facing = light_facing(light, -dot(outwards, sampled.direction) * light_side(light));
    if (!(facing > 0.0)) return false;
    float area = 12.5663706 * light_radius(light) * light_radius(light);
    sampled.weight = min(light.power * min(area * facing / distance2, LIGHT_LARGEST), LIGHT_LARGEST);
    sampled.pdf = min(light_density(light) * (distance2 / facing), LIGHT_LARGEST);
    return true;
}

// A point or spot light as seen from a position; false where it sends nothing there.
bool sample_point(Light light, vec3 position, inout LightSample sampled) {
    vec3 offset = light.position - position;
    float distance2 = dot(offset, offset);
    if (!(distance2 > 0.0)) return false;
    sampled.distance = sqrt(distance2);
    sampled.direction = offset / sampled.distance;
    float falloff = 1.0;
    if (light.kind == LIGHT_SPOT) {
        falloff = spot_share(light, -dot(light_direction(light), sampled.direction));
    }
    sampled.weight = min(light.power * min(falloff / distance2, LIGHT_LARGEST), LIGHT_LARGEST);
    return falloff > 0.0;
}

// The whole number that chooses: the environment where it is below environment_levels.
int light_quantum(float choose) {
    return min(int(choose * 16777216.0), 16777215);
}

// A direction of the environment, by one of its quanta, and its density, 1 / sr, among all lights.
void sample_environment(int quantum, vec2 u, bool compensated, out vec3 direction, out float density) {
    environment_sample(u, quantum / (environment_levels / ENVIRONMENT_LEVELS), compensated, direction, density);
    density = min(density * (float(environment_levels) / 16777216.0), LIGHT_LARGEST);
}

// A point of the light, of whatever kind, as seen from a position.
bool sample_chosen(Light light, vec3 position, vec2 u, inout LightSample sampled) {
    if (LIGHT_TRIANGLES == 1 && light.kind == LIGHT_TRIANGLE) return sample_triangle(light, position, u, sampled);
    if (LIGHT_SPHERES == 1 && light.kind == LIGHT_SPHERE) return sample_sphere(light, position, u, sampled);
    if (LIGHT_POINTS == 1 && light.kind != LIGHT_DIRECTIONAL) return sample_point(light, position, sampled);
    sampled.direction = light_direction(light);
    sampled.weight = light.power;
    return true;
}

// The light of a quantum that is not the environment's.
Light light_of(int quantum);

// A point of a light, or a direction of the environment, as seen from a position; false where it sends nothing.
bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample sampled) {
    sampled = LightSample(vec3(0.0, 1.0, 0.0), LIGHT_LARGEST, vec3(0.0), 0.0);
    int quantum = light_quantum(choose);
    if (quantum < environment_levels) {
        sample_environment(quantum, u, compensated, sampled.direction, sampled.pdf);
        if (!(sampled.pdf > 0.0)) return false;
        sampled.weight = min(environment_radiance(sampled.direction) / sampled.pdf, LIGHT_LARGEST);
        return true;
    }
    if (light_levels == 0) return false;
    return sample_chosen(light_now(light_of(quantum)), position, u, sampled);
}

float environment_pdf(vec3 direction, bool compensated) {
    float share = float(environment_levels) / 16777216.0;
    return min(environment_density(direction, compensated) * share, LIGHT_LARGEST);
}
