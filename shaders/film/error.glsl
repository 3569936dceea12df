// Of each block of EDGE x EDGE pixels of a film: the sums of the means' estimated variance and of the means' luminance,
// the pixels that have fewer than two samples, and the squared differences of the means of the first and the second half
// of the samples. The twin of viewer.film.film.Film.error, block by block.
// Needs: the records Film and Half, unpack_Film and unpack_Half, const int EDGE.
#include "film/accumulate.glsl"

uniform sampler2D in_0;
uniform sampler2D in_1;
uniform sampler2D in_half;
uniform int halves;  // 1: there is a first half
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
            if (halves == 1) {
                Half first = unpack_Half(texelFetch(in_half, ivec2(x, y), 0));
                float rest = film.count - first.count;
                float apart = first.sum / max(first.count, 1.0)
                    - (film_luminance(film.sum) - first.sum) / max(rest, 1.0);
                sums.w += apart * apart;
            }
        }
    }
}
