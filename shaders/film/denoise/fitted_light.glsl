// The light of a point of a larger picture: of the four points of the lattice around it those on its own surface are used
// (joint bilateral upsampling, Kopf et al. 2007), each with its light of the point's own normal.
// Needs the streams lit, relief.
#include "film/denoise/alike.glsl"

uniform vec2 scale;  // size of lit relative to the picture
uniform int stride;  // pixels of lit between two points of the lattice

const float DARKEST = 0.25, BRIGHTEST = 3.0;  // times the light around, of any normal

Lit lit_at(ivec2 place) {
    return fetch_lit(min(stride * place, textureSize(in_lit_0, 0) - 1));
}

vec3 light_of(ivec2 place, vec3 normal) {
    Relief relief = fetch_relief(place);
    return relief.rgb * clamp(relief.base + dot(relief.gradient, normal), DARKEST, BRIGHTEST);
}

vec3 fitted_light(Guide guide, uint surface, ivec2 at) {
    vec2 apart = float(stride) / scale;  // of two points, pixels of the picture
    Plane plane = plane_of(guide, at, max(apart.x, apart.y), STRICT);
    vec2 place = ((vec2(at) + 0.5) * scale - 0.5) / float(stride);
    ivec2 low = ivec2(floor(place)), last = textureSize(in_relief_0, 0) - 1;
    vec2 part = place - vec2(low);
    vec3 sum = vec3(0.0);
    float total = 0.0;
    for (int k = 0; k < 4; ++k) {
        ivec2 corner = ivec2(k & 1, k >> 1), there = clamp(low + corner, ivec2(0), last);
        vec2 near = mix(1.0 - part, part, vec2(corner)), offset = (vec2(there) - place) * apart;
        Lit lit = lit_at(there);
        // Without a pixel on this surface, the nearest ones on any are used: the background has no light of this kind.
        if (guide.nearness > 0.0 && lit.nearness <= 0.0) continue;
        float weight = near.x * near.y * (falling(unlike(plane, Guide(lit.normal, lit.nearness), offset)) + 1e-3);
        if (!on_surface(surface_in(lit.variance), surface)) weight *= 1e-3;
        total += weight;
        sum += weight * light_of(there, guide.normal);
    }
    // At a silhouette all four may lie beyond it: those a step farther, the nearest ones most.
    for (int k = 0; total <= 0.0 && k < 2; ++k) {
        for (int tap = 0; tap < 16; ++tap) {
            ivec2 there = clamp(low + (k + 1) * (ivec2(tap & 3, tap >> 2) - 1), ivec2(0), last);
            vec2 off = vec2(there) - place;
            float weight = guide.nearness > 0.0 && lit_at(there).nearness <= 0.0 ? 0.0 : 1.0 / (1.0 + pow(dot(off, off), 2.0));
            total += weight;
            sum += weight * light_of(there, guide.normal);
        }
    }
    return sum / max(total, 1e-6);
}
