// A pixel's light of that of the lattice's points, by the weights with which it has given them its own (pool.glsl); what is
// left of these is its own light. So the sum of all light stays. Needs the streams lit, pooled, light.
#include "film/denoise/shared.glsl"

Irradiance sliced(ivec2 at, Lit own) {
    ivec2 low = at >> 1, odd = at & 1, high = min(low + odd, textureSize(in_light_0, 0) - 1);
    Pooled a = fetch_pooled(low), b = fetch_pooled(high);
    Plane plane = plane_of(Guide(own.normal, own.nearness), at, 1.0);
    float weight = falling(unlike(plane, Guide(a.normal, a.nearness), -vec2(odd)));
    float other = falling(unlike(plane, Guide(b.normal, b.nearness), vec2(odd)));
    if (high != low + odd) other = 0.0;
    if (odd == ivec2(0)) {
        weight = 1.0;
        other = 0.0;
    }
    float scale = 1.0 / max(weight + other, 1.0), luminance = dot(own.rgb, LUMINANCE);
    weight *= scale * same_light(luminance, a.value, a.single);
    other *= scale * same_light(luminance, b.value, b.single);
    float rest = 1.0 - weight - other;
    Irradiance one = fetch_light(low), two = fetch_light(high);
    float single = own.variance < 0.0 ? a.single : own.variance;
    float variance = weight * weight * one.variance + other * other * two.variance + rest * rest * single;
    return Irradiance(weight * one.rgb + other * two.rgb + rest * own.rgb, variance);
}
