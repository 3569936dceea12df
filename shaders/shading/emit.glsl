// Light that leaves the lights. Triangles and spheres shine by the cosine, points evenly, spots within their cone; what is
// infinitely far through a disc that covers the scene's bounding sphere (H. W. Jensen, Realistic Image Synthesis Using
// Photon Mapping, 2001, section 5.1). Lights are chosen in the order of the list: numbers that are evenly spaced give
// each light its share of the rays, within one.
//
// Aimed light goes to bounding spheres of what is specular alone, in place of the cells of Jensen's projection maps
// (section 5.1.3): to a sphere chosen by the solid angle at which it is seen, or by its disc where light comes from
// infinitely far, evenly. A direction within n spheres is found n times as often, and carries the n-th part. Where a
// light is within a sphere, or the spheres look larger than all that it shines on, aim gains nothing, and it shines as
// without.
//
// Memory: light_shares, the first quantum of each light. Uniforms: int light_slots, their number, a power of two;
// vec3 emit_middle, float emit_radius: the scene's bounding sphere; vec4[] emit_spheres, middles and radii, of which
// there are int emit_sphere_count. Const float EMIT_LARGEST: the largest flux.
#include "interface/emitter.glsl"
#include "lib/hemisphere.glsl"
#include "shading/light.glsl"

const float EMIT_PI = 3.14159265;
const int EMIT_QUANTA = 16777216;  // of light_quantum

// The light of a quantum that is not the environment's, by binary search.
int emitting_light(int quantum) {
    int index = 0;
    for (int size = light_slots >> 1; size > 0; size >>= 1) {
        if (fetch_light_shares(index + size).first <= quantum) index += size;
    }
    return index;
}

// The quantum of a photon's light, and the scale of its flux. Power tells little of what comes to the spheres, and of how dark
// it is where their caustics lie. So half of the aimed photons are shared out by power, half evenly between environment and
// other lights: neither has more than twice the variance that power alone would give it, nor four times that of all photons
// (a defensive mixture: A. Owen and Y. Zhou, Safe and Effective Importance Sampling, 2000).
int emitted_quantum(float choose, bool aimed, out float scale) {
    int other_quanta = EMIT_QUANTA - environment_levels;
    float environment_share = (float(environment_levels) / float(EMIT_QUANTA) + 0.5) / 2.0;  // the environment's of aimed photons
    bool is_mixed = aimed && environment_levels > 0 && other_quanta > 0, is_environment = choose < environment_share;
    float probability = is_environment ? environment_share : 1.0 - environment_share, quanta = float(is_environment ? environment_levels : other_quanta);
    int offset = min(int((is_environment ? choose : choose - environment_share) / probability * quanta), int(quanta) - 1);
    scale = is_mixed ? quanta / float(EMIT_QUANTA) / probability : 1.0;
    return is_mixed ? (is_environment ? 0 : environment_levels) + offset : light_quantum(choose);
}

// One more of several things, of which u chooses one in proportion to their sizes: whether it is this one. u is used up
// and renewed, so that it serves on.
bool choose_next(float size, inout float total, inout float u) {
    total += size;
    float probability = total > 0.0 ? size / total : 0.0;
    bool chosen = u < probability;
    u = min(chosen ? u / probability : (u - probability) / max(1.0 - probability, 1e-7), 0.99999994);
    return chosen;
}

// 1 less the cosine of half the angle at which a sphere is seen; 2: from within.
float sphere_span(vec4 sphere, vec3 origin) {
    vec3 offset = sphere.xyz - origin;
    float squared = dot(offset, offset), sine = sphere.w * sphere.w / squared;
    return squared > sphere.w * sphere.w ? sine / (1.0 + sqrt(max(0.0, 1.0 - sine))) : 2.0;
}

// Chooses a sphere among those that light reaches which leaves a point within a cone: solid angles of all in sum, -1:
// one has the point within it. edge: cosine of half the cone's angle.
float choose_sphere(vec3 origin, vec3 axis, float edge, inout float u, out int chosen) {
    float total = 0.0, max_angle = acos(clamp(edge, -1.0, 1.0)) + 1e-3;
    bool is_inside = false;
    chosen = 0;
    for (int k = 0; k < emit_sphere_count; k++) {
        vec3 offset = emit_spheres[k].xyz - origin;
        float seen_span = sphere_span(emit_spheres[k], origin), distance = length(offset);
        is_inside = is_inside || seen_span >= 2.0;
        float angle = acos(clamp(dot(axis, offset) / distance, -1.0, 1.0)) - asin(min(emit_spheres[k].w / distance, 1.0));
        if (seen_span < 2.0 && angle < max_angle && choose_next(2.0 * EMIT_PI * seen_span, total, u)) chosen = k;
    }
    return is_inside ? -1.0 : total;
}

// How many spheres the line through a point goes through, in front of it alone or on both sides; the chosen one counts,
// whatever roundings say.
float spheres_met(vec3 origin, vec3 direction, bool front, int chosen) {
    float count = 0.0;
    for (int k = 0; k < emit_sphere_count; k++) {
        vec3 offset = emit_spheres[k].xyz - origin, distance_vector = cross(offset, direction);
        bool is_met = dot(distance_vector, distance_vector) < emit_spheres[k].w * emit_spheres[k].w && (!front || dot(offset, direction) > 0.0);
        count += is_met || k == chosen ? 1.0 : 0.0;
    }
    return count;
}

// A place where light comes in from infinitely far, and the area that it stands for.
void emit_far(vec3 from, vec2 place, bool aimed, out vec3 origin, out float area) {
    vec3 right, up, centre = emit_middle;
    float radius = emit_radius, total = 0.0, u = place.x;
    int chosen = 0;
    for (int k = 0; k < emit_sphere_count; k++) {
        if (choose_next(emit_spheres[k].w * emit_spheres[k].w, total, u)) chosen = k;
    }
    bool is_aimed = aimed && total < emit_radius * emit_radius;
    if (is_aimed && emit_sphere_count > 0) {
        centre = emit_spheres[chosen].xyz;
        radius = emit_spheres[chosen].w;
    }
    frame_around(from, right, up);
    vec2 disc_point = concentric_disc(vec2(is_aimed ? u : place.x, place.y)) * radius;
    vec3 target = centre + right * disc_point.x + up * disc_point.y;
    area = EMIT_PI * (is_aimed ? total / max(spheres_met(target, from, false, chosen), 1.0) : radius * radius);
    origin = target + from * (emit_radius - dot(target - emit_middle, from));
}

// A direction of light that is near, and the flux of a ray of it, by its power.
vec3 emit_near(Light light, vec2 place, vec2 direction_u, bool aimed, out vec3 origin, out vec3 normal, out vec3 direction) {
    bool triangle = LIGHT_TRIANGLES == 1 && light.kind == LIGHT_TRIANGLE;
    bool sphere = LIGHT_SPHERES == 1 && light.kind == LIGHT_SPHERE;
    bool spot = LIGHT_POINTS == 1 && light.kind == LIGHT_SPOT;
    vec3 right, up, axis = vec3(0.0, 0.0, 1.0);
    float cos_cone = -1.0, cone_angle = 4.0 * EMIT_PI, area = 1.0;  // cone_angle: directions that light goes into, sr
    origin = light.position;
    normal = vec3(0.0);
    if (triangle) {
        vec2 weights = triangle_point(place);
        vec3 crossed = cross(light.edge1, light.edge2);  // as long as twice the area
        area = 0.5 * length(crossed);
        normal = crossed / max(2.0 * area, 1e-38);
        origin = light.position + weights.x * light.edge1 + weights.y * light.edge2;
        light.power *= light_texel(light, weights);
    } else if (sphere) {
        vec3 outwards = sphere_point(place);
        area = 4.0 * EMIT_PI * light_radius(light) * light_radius(light);
        normal = outwards * light_side(light);
        origin = light.position + light_radius(light) * outwards;
    }
    bool has_area = triangle || sphere;
    if (has_area && light_both(light)) {  // one of its sides, by the azimuth
        normal *= direction_u.y < 0.5 ? -1.0 : 1.0;
        direction_u.y = fract(2.0 * direction_u.y);
        light.power *= 2.0;
    }
    if (has_area) {
        axis = normal;
        cos_cone = 0.0;
        cone_angle = EMIT_PI;  // by the cosine
    } else if (spot) {
        axis = light_direction(light);
        cos_cone = clamp(-light_falloff(light).y / light_falloff(light).x, -1.0, 1.0);  // where the falloff is zero
        cone_angle = 2.0 * EMIT_PI * (1.0 - cos_cone);
    }
    float u = direction_u.x, seen_angle = cone_angle;
    int chosen = 0;
    if (aimed) seen_angle = choose_sphere(origin, axis, cos_cone, u, chosen);
    bool is_aimed = seen_angle >= 0.0 && seen_angle < cone_angle;
    vec3 centre_axis = is_aimed ? normalize(emit_spheres[chosen].xyz - origin) : axis;
    float span = is_aimed ? sphere_span(emit_spheres[chosen], origin) : 1.0 - cos_cone;
    frame_around(centre_axis, right, up);
    float one_minus_cos = (is_aimed ? u : direction_u.x) * span, sine = sqrt(max(0.0, one_minus_cos * (2.0 - one_minus_cos)));
    float azimuth = 2.0 * EMIT_PI * direction_u.y;
    vec3 local = has_area && !is_aimed ? cosine_direction(direction_u) : vec3(sine * cos(azimuth), sine * sin(azimuth), 1.0 - one_minus_cos);
    direction = normalize(right * local.x + up * local.y + centre_axis * local.z);
    float facing = dot(axis, direction), factor = 1.0;
    if (has_area) factor = area * (is_aimed ? max(facing, 0.0) : local.z > 0.0 ? 1.0 : 0.0);
    if (spot) {
        factor = spot_share(light, facing);
    }
    if (is_aimed) factor *= seen_angle / max(spheres_met(origin, direction, true, chosen), 1.0);
    return light.power * (is_aimed ? factor : factor * cone_angle);
}

// A ray that leaves a light, and its flux; normal: of the light's surface, 0 without one. False where there is no light.
bool light_emit(
    float choose, vec2 place, vec2 direction_u, bool aimed, out vec3 origin, out vec3 normal, out vec3 direction, out vec3 flux
) {
    float scale;
    int quantum = emitted_quantum(choose, aimed, scale);
    bool is_environment = quantum < environment_levels;
    Light light = light_now(fetch_lights(is_environment ? 0 : emitting_light(quantum)));
    vec3 towards = light_direction(light), power = light.power;
    if (is_environment) {
        float density;
        sample_environment(quantum, direction_u, false, towards, density);
        power = density > 0.0 ? environment_radiance(towards) / density : vec3(0.0);
    }
    if (is_environment || light.kind == LIGHT_DIRECTIONAL) {
        float area;
        emit_far(towards, place, aimed, origin, area);
        normal = vec3(0.0);
        direction = -towards;
        flux = power * area;
    } else {
        flux = emit_near(light, place, direction_u, aimed, origin, normal, direction);
    }
    flux = min(scale * flux, vec3(EMIT_LARGEST));
    return (is_environment || light_levels > 0) && any(greaterThan(flux, vec3(0.0)));
}
