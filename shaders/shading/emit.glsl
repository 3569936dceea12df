// Light that leaves the lights. Triangles shine by the cosine, points evenly, spots within their cone; what is
// infinitely far through a disc that covers the scene's bounding sphere (H. W. Jensen, Realistic Image Synthesis Using
// Photon Mapping, 2001, section 5.1). Lights are chosen as in shading/light.glsl.
// Uniforms: vec3 emit_middle, float emit_radius: the scene's bounding sphere.
#include "interface/emitter.glsl"
#include "lib/hemisphere.glsl"
#include "shading/light.glsl"

// Light from infinitely far that comes from a direction.
void emit_far(vec3 from, vec2 place, out vec3 origin, out vec3 direction) {
    vec3 right, up;
    frame_around(from, right, up);
    vec2 at = concentric_disc(place) * emit_radius;
    origin = emit_middle + right * at.x + up * at.y + from * emit_radius;
    direction = -from;
}

bool light_emit(
    float choose, vec2 place, vec2 way, out vec3 origin, out vec3 normal, out vec3 direction, out vec3 flux
) {
    origin = vec3(0.0);
    normal = vec3(0.0);
    direction = vec3(0.0, 1.0, 0.0);
    flux = vec3(0.0);
    float disc = 3.14159265 * emit_radius * emit_radius;
    int quantum = min(int(choose * 16777216.0), 16777215);
    if (quantum < environment_levels) {
        float density;
        vec3 from;
        int level = quantum / (environment_levels / ENVIRONMENT_LEVELS);
        environment_sample(way, level, false, from, density);
        density *= float(environment_levels) / 16777216.0;
        if (!(density > 0.0)) return false;
        emit_far(from, place, origin, direction);
        flux = environment_radiance(from) * (disc / density);
        return true;
    }
    if (light_levels == 0) return false;
    quantum -= environment_levels;
    int slot = quantum / light_levels;
    Light first = fetch_lights(slot);
    Light light = fetch_lights(quantum - slot * light_levels < first.threshold ? slot : first.alias);
    vec3 right, up;
    if (LIGHT_TRIANGLES == 1 && light.kind == LIGHT_TRIANGLE) {
        vec2 weights = triangle_point(place);
        vec3 area = cross(light.along, light.across);  // as long as twice the area
        float doubled = length(area);
        if (!(doubled > 0.0)) return false;
        normal = area / doubled;
        frame_around(normal, right, up);
        vec3 local = cosine_direction(way);
        origin = light.at + weights.x * light.along + weights.y * light.across;
        direction = normalize(right * local.x + up * local.y + normal * local.z);
        flux = light.power * (3.14159265 * 0.5 * doubled);
        return local.z > 0.0;
    }
    if (LIGHT_SPHERES == 1 && light.kind == LIGHT_SPHERE) {
        vec3 outwards = sphere_point(place);
        normal = outwards * light.along.y;
        frame_around(normal, right, up);
        vec3 local = cosine_direction(way);
        origin = light.at + light.along.x * outwards;
        direction = normalize(right * local.x + up * local.y + normal * local.z);
        flux = light.power * (3.14159265 * 12.5663706 * light.along.x * light.along.x);
        return local.z > 0.0;
    }
    if (LIGHT_POINTS == 1 && light.kind == LIGHT_SPOT) {
        // Evenly within the cone, whose edge is where the falloff of scale x and offset y comes to zero.
        float edge = clamp(-light.across.y / light.across.x, -1.0, 1.0);
        float along = mix(1.0, edge, way.x), across = sqrt(max(0.0, 1.0 - along * along));
        frame_around(light.along, right, up);
        float turn = 6.28318531 * way.y;
        direction = normalize(light.along * along + (right * cos(turn) + up * sin(turn)) * across);
        float share = clamp(along * light.across.x + light.across.y, 0.0, 1.0);
        origin = light.at;
        flux = light.power * (6.28318531 * (1.0 - edge) * share * share);
        return share > 0.0;
    }
    if (LIGHT_POINTS == 1 && light.kind != LIGHT_DIRECTIONAL) {
        float along = 1.0 - 2.0 * way.x, across = sqrt(max(0.0, 1.0 - along * along));
        direction = vec3(across * cos(6.28318531 * way.y), across * sin(6.28318531 * way.y), along);
        origin = light.at;
        flux = light.power * 12.5663706;
        return true;
    }
    emit_far(light.along, place, origin, direction);
    flux = light.power * disc;
    return true;
}
