// A pixel's light without what alone is left of noise: beyond the second darkest or brightest of the eight pixels around it
// is bounded, until it stands out of the pixel's noise. Needs the streams lit (for surface and noise), residual.
#include "film/regression/near.glsl"

const float CONFIRMED = 9.0;
const float LEAST_ALIKE = 3.0;

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    vec3 light = fetch_residual(at).light;
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    if (!(own.nearness > 0.0)) {  // samples of its surfaces may have light that these had not
        vec4 sum = vec4(0.0, 0.0, 0.0, 1e-6);
        for (int k = 0; k < 9; ++k) {
            ivec2 place = clamp(at + ivec2(k % 3, k / 3) - 1, ivec2(0), last);
            if (fetch_lit(place).nearness > 0.0) sum += vec4(fetch_residual(place).light, 1.0);
        }
        return Irradiance(sum.rgb / sum.a, 0.0);
    }
    Plane plane = plane_near(Guide(own.normal, own.nearness), at, 1.0);
    vec3 low[4], high[4];  // the two darkest and the two brightest of each channel: of alike pixels, and of all around
    for (int k = 0; k < 4; ++k) {
        low[k] = vec3(1e30);
        high[k] = vec3(-1e30);
    }
    float alike = 0.0, all = 0.0;
    for (int k = 0; k < 9; ++k) {
        ivec2 offset = ivec2(k % 3, k / 3) - 1, place = clamp(at + offset, ivec2(0), last);
        Lit there = fetch_lit(place);
        if (k == 4 || place != at + offset || !(there.nearness > 0.0)) continue;
        if (surface_in(there.variance) != surface_in(own.variance)) continue;
        vec3 value = fetch_residual(place).light;
        low[3] = min(low[3], max(low[2], value));
        low[2] = min(low[2], value);
        high[3] = max(high[3], min(high[2], value));
        high[2] = max(high[2], value);
        all += 1.0;
        if (apart_from(plane, Guide(there.normal, there.nearness), vec2(offset)) > 4.0) continue;
        low[1] = min(low[1], max(low[0], value));
        low[0] = min(low[0], value);
        high[1] = max(high[1], min(high[0], value));
        high[0] = max(high[0], value);
        alike += 1.0;
    }
    bool enough = alike >= LEAST_ALIKE;
    if (enough || all >= LEAST_ALIKE) {
        vec3 least = enough ? low[1] : low[3], most = max(enough ? high[1] : high[3], least);
        vec3 bound = clamp(light, least, most), off = light - bound;
        float square = dot(off, LUMINANCE);
        square *= square;
        float noise = CONFIRMED * own.variance;
        light = own.variance < 0.0 || square <= noise ? bound : light - off * (noise / square);
    }
    return Irradiance(max(light, 0.0), own.variance);
}
