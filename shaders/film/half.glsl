// For every pixel of a film, the luminance of its sum, and its sample count: the first half of twice as many.
// Needs: the records Film and Half, unpack_Film, pack_Half.
#include "film/accumulate.glsl"

uniform sampler2D in_0;
uniform sampler2D in_1;
out vec4 out_0;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    Film film = unpack_Film(texelFetch(in_0, at, 0), texelFetch(in_1, at, 0));
    pack_Half(Half(film_luminance(film.sum), film.count), out_0);
}
