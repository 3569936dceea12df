// Copies running photon estimates of an unfinished tile to its rectangle of the frame (Purcell et al. 2003, section
// 2.4: the estimate is shown while it grows): for rays in the search, their sample's sum so far, over the disc of the
// photons found. The tile's rays lie in row order in its streams. Other rays leave the frame unchanged.
#include "lib/texel_of.glsl"

uniform sampler2D in_state;  // the ray's state in r
uniform ivec2 corner;        // the rectangle's upper left pixel; row 0 is the frame's top
uniform int wide;            // its width, pixels
uniform ivec4 searching;     // numbers of the states of the search; -1: it has no such state

out vec4 placed;

void main() {
    ivec2 within = ivec2(gl_FragCoord.xy) - corner;
    int ray = within.y * wide + within.x, columns = textureSize(in_state, 0).x;
    int state = int(texelFetch(in_state, texel_of(ray, columns), 0).r);
    if (state == 0 || !any(equal(ivec4(state), searching))) discard;
    Film film = fetch_film(ray);
    Estimate estimate = fetch_estimate(ray);
    vec3 light = fetch_radiance(ray).rgb;
    if (estimate.square > 0.0) light += fetch_path(ray).throughput * estimate.sum / (3.14159265 * estimate.square);
    placed = vec4((film.sum + light) / (film.count + 1.0), 1.0);
}
