// Light of few samples, filled up with that around: where hardly any pixel shows the same surface, as on flutes or leaves
// in a small picture, the filter keeps the noise of one sample, dark and bright points. There the mean of all pixels at
// about the same depth takes its place, until samples enough are there. Needs the streams past (of `History`), light.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "lib/luminance.glsl"

const float APART = 10.0;    // of depths that differ: a half at a tenth
const float FACING = 0.02;   // weight of what faces away: it counts where nothing else is around
const float ENOUGH = 0.02;   // 1 / samples of the same surface, after which 1 / e of the light is that around
const float NOISE = 0.2;     // variance around, relative to the squared mean, that makes half of that

Plane plane;
ivec2 middle, last;
vec3 own_normal, sum;
float own_nearness, total, first, second, support;

Guide surface_of(History seen) {
    return Guide(seen.normal, seen.nearness);
}

void tap(int x, int y) {
    ivec2 offset = ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    History seen = fetch_past(place);
    float inside = place == wanted ? 1.0 : 0.0;
    support += inside * seen.age * falling(unlike(plane, surface_of(seen), vec2(offset)));
    float near = falling(APART * abs(seen.nearness - own_nearness) / max(own_nearness, 1e-30));
    float facing = max(dot(seen.normal, own_normal), 0.0);
    facing *= facing;
    float weight = inside * near * (FACING + facing * facing);
    total += weight;
    vec3 rgb = fetch_light(place).rgb;
    float value = dot(rgb, LUMINANCE);
    sum += weight * rgb;
    first += weight * value;
    second += weight * value * value;
}

void row(int y) {
    tap(-2, y);
    tap(-1, y);
    tap(0, y);
    tap(1, y);
    tap(2, y);
}

Irradiance element(ivec2 at) {
    History own = fetch_past(at);
    Irradiance light = fetch_light(at);
    plane = plane_of(surface_of(own), at, 4.0);
    middle = at;
    last = textureSize(in_light_0, 0) - 1;
    own_normal = own.normal;
    own_nearness = own.nearness;
    sum = vec3(0.0);
    total = first = second = support = 0.0;
    row(-2);
    row(-1);
    row(0);
    row(1);
    row(2);
    // Nothing is to be filled up where the light around is even: shading is left alone.
    float apart = max(second * total - first * first, 0.0), noise = apart / (apart + NOISE * first * first + 1e-20);
    float share = own.nearness > 0.0 ? noise * exp(-ENOUGH * support) : 0.0;
    light.rgb = mix(light.rgb, sum / max(total, 1e-6), share);
    return light;
}
