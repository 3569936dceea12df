// What a regression has missed of a pixel's light, and noise. The light of a pixel of several surfaces is that of its
// first one's and of the others' around, each by what it adds to the pixel's reflectance.
// Needs the streams lit, relief, features.
#include "film/denoise/surface_features.glsl"
#include "film/denoise/fitted_light.glsl"

vec3 mixed_light(Lit center, ivec2 at, vec3 fitted) {
    ivec2 middle = (at + stride / 2) / stride, last = textureSize(in_relief_0, 0) - 1;
    vec3 light[2] = vec3[2](vec3(0.0), vec3(0.0));  // that is reflected, of its first surface and of others
    float total[2] = float[2](0.0, 0.0);
    for (int k = 0; k < 9; ++k) {
        ivec2 there = clamp(middle + ivec2(k % 3, k / 3) - 1, ivec2(0), last);
        Lit lit = lit_at(there);
        if (!(lit.nearness > 0.0)) continue;
        Features features = fetch_features(min(stride * there, textureSize(in_lit_0, 0) - 1));
        float weight = is_mixed(lit.variance) ? MIXED : 1.0;
        int side = on_surface(surface_in(lit.variance), surface_in(center.variance)) ? 0 : 1;
        total[side] += weight;
        light[side] += weight * reflectance(features) * features.count / features.hits * light_of(there, lit.normal);
    }
    if (total[0] <= 0.0 || total[1] <= 0.0) return fitted;
    Features features = fetch_features(at);
    vec3 both = features.alike * light[0] / total[0] + (features.hits - features.alike) * light[1] / total[1];
    return both / (features.count * reflectance(features));
}

Residual element(ivec2 at) {
    Lit center = fetch_lit(at);
    vec3 fitted = fitted_light(Guide(center.normal, center.nearness), surface_in(center.variance), at);
    if (is_mixed(center.variance)) fitted = mixed_light(center, at, fitted);
    float error = fetch_relief(min((at + stride / 2) / stride, textureSize(in_relief_0, 0) - 1)).variance;
    return Residual(center.rgb - fitted, center.variance, fitted, error);
}
