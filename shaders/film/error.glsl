// Sums over each block of EDGE x EDGE pixels of a film: estimated variances of the means, luminances of the means, and
// pixels below two samples. With halves also: squared differences of the half means, and differences between
// neighbouring pixels, see raystream.film.error. The twin of raystream.film.film.Film.error, block by
// block, and of raystream.film.error.block_sums. Needs: the records Film and Half, unpack_Film and
// unpack_Half, const int EDGE.
#include "film/accumulate.glsl"

uniform sampler2D in_0;
uniform sampler2D in_1;
uniform sampler2D in_half;
uniform int halves;  // 1: there is a first half
layout(location = 0) out vec4 sums;
layout(location = 1) out vec4 neighbours;  // horizontal neighbours: of means, of half differences; vertical ones

void main() {
    ivec2 low = ivec2(gl_FragCoord.xy) * EDGE;
    ivec2 high = min(low + EDGE, textureSize(in_0, 0));
    sums = vec4(0.0);
    neighbours = vec4(0.0);
    vec2 above[EDGE];  // the mean, and the difference of the half means
    for (int y = low.y; y < high.y; ++y) {
        vec2 left = vec2(0.0);
        for (int x = low.x; x < high.x; ++x) {
            Film film = unpack_Film(texelFetch(in_0, ivec2(x, y), 0), texelFetch(in_1, ivec2(x, y), 0));
            bool enough = film.count > 1.0;
            sums.x += enough ? film.square / (film.count * (film.count - 1.0)) : 0.0;
            sums.y += film_luminance(film.sum / max(film.count, 1.0));
            sums.z += enough ? 0.0 : 1.0;
            if (halves == 1) {
                Half first = unpack_Half(texelFetch(in_half, ivec2(x, y), 0));
                float second_count = film.count - first.count, total = film_luminance(film.sum);
                float apart = first.sum / max(first.count, 1.0) - (total - first.sum) / max(second_count, 1.0);
                vec2 pixel = vec2(total / max(film.count, 1.0), apart);
                vec2 horizontal = x > low.x ? pixel - left : vec2(0.0);
                vec2 vertical = y > low.y ? pixel - above[x - low.x] : vec2(0.0);
                sums.w += apart * apart;
                neighbours += vec4(horizontal * horizontal, vertical * vertical);
                left = pixel;
                above[x - low.x] = pixel;
            }
        }
    }
}
