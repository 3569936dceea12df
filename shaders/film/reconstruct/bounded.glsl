// A pixel's light within the second darkest and the second brightest of the eight pixels around, channel by channel (order
// statistics: J. Tukey 1977), but for what stands out of the pixel's noise: what few samples leave alone is no light. Pixels
// of its surface count, or, where it has hardly any around, all. A pixel whose samples hit nothing takes the light around
// it: other samples may hit a surface there. Needs the streams lit (for surface and noise), residual (for the light).
#include "film/regression/near.glsl"

const float PULL = 1.0;
const float CONFIRMED = 16.0;  // squared standard deviations
const float LEAST = 3.0;       // pixels around that bound one
const float ALIKE = 4.0;       // exponent of 2, up to which pixels are of its surface

struct Bounds {
    vec3 darkest, dark, bright, brightest, sum;
    float count, square, error;
};

const Bounds NONE = Bounds(vec3(1e30), vec3(1e30), vec3(-1e30), vec3(-1e30), vec3(0.0), 0.0, 0.0, 0.0);

void add(inout Bounds bounds, vec3 light, float error) {
    float luminance = dot(light, LUMINANCE);
    bounds.sum += light;
    bounds.square += luminance * luminance;
    bounds.error += error;
    bounds.dark = min(bounds.dark, max(bounds.darkest, light));
    bounds.darkest = min(bounds.darkest, light);
    bounds.bright = max(bounds.bright, min(bounds.brightest, light));
    bounds.brightest = max(bounds.brightest, light);
    bounds.count += 1.0;
}

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    Residual here = fetch_residual(at);
    vec3 light = here.light;
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    Plane plane = plane_near(Guide(own.normal, own.nearness), at, 1.0);
    Bounds alike = NONE, all = NONE;
    for (int k = 0; k < 9; ++k) {
        ivec2 offset = ivec2(k % 3, k / 3) - 1, place = clamp(at + offset, ivec2(0), last);
        Lit there = fetch_lit(place);
        if (k == 4 || place != at + offset || !(there.nearness > 0.0)) continue;
        Residual residual = fetch_residual(place);
        vec3 near = max(residual.light, 0.0);
        add(all, near, residual.error);
        if (!on_surface(there.variance, own.variance) || is_mixed(there.variance) || is_mixed(own.variance)) continue;
        if (apart_from(plane, Guide(there.normal, there.nearness), vec2(offset)) <= ALIKE) add(alike, near, residual.error);
    }
    if (!(own.nearness > 0.0)) return Irradiance(all.sum / max(all.count, 1.0), 0.0);
    if (alike.count < LEAST) alike = all;
    if (alike.count >= LEAST) {
        vec3 mean = alike.sum / alike.count;
        float luminance = dot(mean, LUMINANCE);
        float spread = max((alike.square - alike.error) / alike.count - luminance * luminance, 0.0);
        light = mix(light, mean, PULL * here.error / (here.error + spread + 1e-30));
        vec3 off = light - clamp(light, alike.dark, max(alike.dark, alike.bright));
        float apart = dot(abs(off), LUMINANCE), square = apart * apart, noise = CONFIRMED * own.variance;
        light -= own.variance < 0.0 || square <= noise ? off : off * (noise / square);
    }
    return Irradiance(max(light, 0.0), own.variance);
}
