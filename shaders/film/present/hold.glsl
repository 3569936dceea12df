// A film's light without what its neighbourhood makes unlikely: a sample far brighter than all that the pixels around show of
// the same surface, and than what was known, is held back until others confirm it. Of a pixel's own samples those confirm it by which it stands out
// over its standard error: one bright sample among n has a standard error of its whole share of the mean.
// For the screen alone: the film keeps every bit. Needs the streams lit, known
// (of any size).
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/reflected.glsl"
#include "lib/luminance.glsl"

uniform float likely, rare;  // times the brightest around, and what is known, that a pixel may be

Plane plane;
ivec2 middle, last;
float brightest, total;

void tap(int x, int y) {
    ivec2 offset = ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Lit there = fetch_lit(place);
    float weight = place == wanted ? falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset))) : 0.0;
    total += weight;
    brightest = max(brightest, weight * dot(there.rgb, LUMINANCE));
}

Lit element(ivec2 at) {
    Lit lit = fetch_lit(at);
    plane = plane_of(Guide(lit.normal, lit.nearness), at, 2.0);
    middle = at;
    last = textureSize(in_lit_0, 0) - 1;
    brightest = total = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        tap(side, 0);
        tap(0, side);
        tap(side, -1);
        tap(side, 1);
        tap(2 * side, 0);
        tap(0, 2 * side);
    }
    vec2 place = (vec2(at) + 0.5) * vec2(textureSize(in_known_0, 0)) / vec2(last + 1);
    float known = dot(fetch_known(ivec2(place)).rgb, LUMINANCE);
    float luminance = dot(lit.rgb, LUMINANCE), confirmed = max(luminance - sqrt(max(lit.variance, 0.0)), 0.0);
    // One sample tells no error, and where hardly a pixel around shows this surface nothing tells what is likely.
    float bound = lit.variance < 0.0 || total < 1.0 ? luminance : max(max(likely * brightest, rare * known), confirmed);
    float share = luminance > bound ? bound / luminance : 1.0;
    lit.rgb *= share;
    if (lit.variance > 0.0) lit.variance = with_reflected(lit.variance * share * share, reflected_in(lit.variance));
    return lit;
}
