// Of each block of EDGE x EDGE pixels of a film: the sums of the means' estimated variance and of the means' luminance,
// the pixels that have fewer than two samples, and the pixels. The twin of viewer.film.film.Film.error, block by block.
// Needs: the record Film, unpack_Film, const int EDGE.
#include "film/accumulate.glsl"

uniform sampler2D in_0;
uniform sampler2D in_1;
out vec4 sums;

void main() {
    ivec2 low = ivec2(gl_FragCoord.xy) * EDGE;
    ivec2 high = min(low + EDGE, textureSize(in_0, 0));
    sums = vec4(0.0);
    for (int y = low.y; y < high.y; ++y) {
        for (int x = low.x; x < high.x; ++x) {
            Film film = unpack_Film(texelFetch(in_0, ivec2(x, y), 0), texelFetch(in_1, ivec2(x, y), 0));
            bool enough = film.count > 1.0;
            sums.x += enough ? film.square / (film.count * (film.count - 1.0)) : 0.0;
            sums.y += film_luminance(film.sum / max(film.count, 1.0));
            sums.z += enough ? 0.0 : 1.0;
            sums.w += 1.0;
        }
    }
}
