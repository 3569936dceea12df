// A pixel's light, as far as its error allows, and what it reflects within the second darkest and the second brightest of
// the eight pixels around, channel by channel (order statistics: J. Tukey 1977), but for what its texture stands out of
// theirs: what few samples leave alone is no light. Light of an error is drawn to that around by its share in what they
// differ (empirical Bayes: W. James and C. Stein 1961); pixels of its surface count, or, where it has hardly any around,
// all. A pixel whose samples hit nothing takes the light around it: other samples may hit a surface there.
// Needs the streams lit (for its surfaces), residual (for the light), features.
#include "film/denoise/surface_features.glsl"
#include "film/denoise/unconfirmed.glsl"

const float LEAST = 3.0;  // pixels around that light is drawn to
const float ALIKE = 4.0;  // exponent of 2, up to which pixels are of its surface

// The least two values so far, in order.
struct Least {
    vec3 first, second;
};

void add(inout Least least, vec3 value) {
    least.second = min(least.second, max(least.first, value));
    least.first = min(least.first, value);
}

struct Around {
    vec3 light;
    float count, square, error;
};

void add(inout Around around, Residual residual) {
    float luminance = dot(residual.light, LUMINANCE);
    around.light += residual.light;
    around.count += 1.0;
    around.square += luminance * luminance;
    around.error += residual.error;
}

Irradiance element(ivec2 at) {
    const Least NO_LEAST = Least(vec3(1e30), vec3(1e30));
    Lit center = fetch_lit(at);
    Residual here = fetch_residual(at);
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    Plane plane = plane_of(Guide(center.normal, center.nearness), at, 1.0, REGRESSED);
    Around alike = Around(vec3(0.0), 0.0, 0.0, 0.0), all = alike;
    Least dark = NO_LEAST, bright = NO_LEAST, dull = NO_LEAST, shiny = NO_LEAST;
    for (int k = 0; k < 9; ++k) {
        ivec2 offset = ivec2(k % 3, k / 3) - 1, place = clamp(at + offset, ivec2(0), last);
        Lit neighbour = fetch_lit(place);
        if (k == 4 || place != at + offset || !(neighbour.nearness > 0.0)) continue;
        Residual residual = fetch_residual(place);
        residual.light = max(residual.light, 0.0);
        vec3 reflected = reflectance(fetch_features(place)), light = reflected * residual.light;
        add(dark, light);
        add(bright, -light);
        add(dull, reflected);
        add(shiny, -reflected);
        add(all, residual);
        if (is_mixed(center.variance) || same_surface(neighbour.variance, center.variance) < 1.0) continue;
        if (unlike(plane, Guide(neighbour.normal, neighbour.nearness), vec2(offset)) <= ALIKE) add(alike, residual);
    }
    if (!(center.nearness > 0.0)) return Irradiance(all.light / max(all.count, 1.0), 0.0);
    if (alike.count < LEAST) alike = all;
    vec3 light = here.light;
    if (alike.count >= LEAST) {
        vec3 mean = alike.light / alike.count, reflected = reflectance(fetch_features(at));
        float luminance = dot(mean, LUMINANCE);
        float spread = max((alike.square - alike.error) / alike.count - luminance * luminance, 0.0);
        float deviation = dot(light, LUMINANCE) - luminance;
        spread += max(deviation * deviation - CONFIRMED * here.error, 0.0) / (alike.count + 1.0);
        light = mix(light, mean, here.error / (here.error + spread + 1e-30));
        vec3 within = max(light, dark.second / max(reflected, dull.second));
        vec3 excess = light - min(within, -bright.second / min(reflected, -shiny.second));
        light -= excess * unconfirmed(dot(abs(excess), LUMINANCE), center.variance);
    }
    return Irradiance(max(light, 0.0), center.variance);
}
