// Light blended with what an irradiance cache knows of its place, the more, the more noise there is: how light differs from
// point to point, as along shadows, is left as it is. A pixel's noise is told by how the light of the points around has
// changed from picture to picture, and, where there were none, by how unlike the light around is.
// Needs the streams lit, own (of `History`), known.
#include "film/denoise/noise_around.glsl"
#include "film/denoise/surface.glsl"

uniform float samples;     // of each pixel of this picture
uniform float most_known;  // samples that known light may count as

const float SOON = 8.0;     // samples of the points around that have been seen before: as many tell noise
const float BLURRED = 0.5;  // squared error of light that is known from around, by the variance that is not noise

float noise_of(ivec2 at, History own) {
    Plane plane = plane_of(Guide(own.normal, own.nearness), at, 2.0);
    ivec2 limit = textureSize(in_own_0, 0) - 1;
    float changed = 0.0, total = 0.0;
    for (int k = 0; k < 25; ++k) {
        ivec2 offset = ivec2(k % 5, k / 5) - 2, place = at + offset;
        History there = fetch_own(clamp(place, ivec2(0), limit));
        float before = max(there.age - samples, 0.0) / samples;
        float weight = falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset))) * before;
        if (place != clamp(place, ivec2(0), limit)) weight = 0.0;
        total += weight;
        float variance = max(there.second - there.first * there.first, 0.0);
        changed += weight * variance * there.age / max(there.age - samples, 0.5 * samples);
    }
    float around = max(own.variance, 0.0) * own.age / samples * noise_around(at);
    return mix(around, changed / max(total, 1e-9), min(total / SOON, 1.0));
}

History element(ivec2 at) {
    History own = fetch_own(at);
    Known known = fetch_known(at);
    float told = min(known.samples, most_known);
    if (told <= 0.0) return own;
    float noise = noise_of(at, own), apart = max(known.variance - noise, 0.0);
    told *= noise / (noise + BLURRED * told * apart + 1e-30);
    float part = told / (own.age + told);
    uint surface = surface_in(own.variance);
    own.rgb = mix(own.rgb, known.rgb, part);
    own.variance = with_surface(own.variance < 0.0 ? own.variance : own.variance * (1.0 - part), surface);
    own.age += told;
    return own;
}
