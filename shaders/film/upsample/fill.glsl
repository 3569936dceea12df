// Fills in light of few samples from its surroundings. Where hardly any pixel shows the same surface, as on flutes or
// leaves in a small picture, the filter keeps the noise of one sample. There it is replaced by the mean of all pixels
// at about the same depth, until enough samples are there. A pixel that found a lamp by chance would be seen as a dot,
// and its part of the means around it as a square: both are held back. Needs the streams past (of `History`), light.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "lib/luminance.glsl"

const float APART = 10.0;    // of relative depth: weight a half at a difference of a tenth
const float FACING = 0.02;   // weight of surfaces facing away, effective only without others
const float ENOUGH = 0.02;   // 1 / samples on the same surface at which 1 / e of the light is the mean's
const float MOST = 1.5;      // times the mean around: a pixel's light beyond is held back, as long as it is
const float YOUNG = 4.0;     // of at most so many samples
const float OWN = 0.1;       // weight of the pixel itself in that mean, effective only where hardly any are around
const float LONELY = 16.0;   // times the mean of the others: the brightest pixel's light beyond does not count
const float NOISE = 0.2;     // relative variance around at which half is replaced

Plane plane;
ivec2 middle, last;
vec3 own_normal, sum, brightest;
float own_nearness, total, first, second, support, most, most_weight;

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
    if (weight * value > most) {
        most = weight * value;
        most_weight = weight;
        brightest = weight * rgb;
    }
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
    brightest = vec3(0.0);
    total = first = second = support = most = most_weight = 0.0;
    row(-2);
    row(-1);
    row(0);
    row(1);
    row(2);
    // No fill where the light around is even: shading is left alone.
    float apart = max(second * total - first * first, 0.0), noise = apart / (apart + NOISE * first * first + 1e-20);
    float share = own.nearness > 0.0 ? noise * exp(-ENOUGH * support) : 0.0;
    float value = dot(light.rgb, LUMINANCE), squared = dot(own_normal, own_normal), self = FACING + squared * squared;
    float bound = MOST * (max(first - self * value, 0.0) + OWN * value) / (max(total - self, 0.0) + OWN);
    float others = (first - most) / max(total - most_weight, 1e-6), excess = most - LONELY * others * most_weight;
    if (excess > 0.0 && total > 1.5 * most_weight) sum -= excess / most * brightest;
    if (own.age <= YOUNG && value > bound) light.rgb *= bound / value;
    light.rgb = mix(light.rgb, sum / max(total, 1e-6), share);
    return light;
}
