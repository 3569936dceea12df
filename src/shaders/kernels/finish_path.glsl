// Adds a finished sample to the film, and lets the pixel's next one begin: path regeneration (J. Novak, V. Havran and
// C. Dachsbacher, "Path Regeneration for Interactive Path Tracing", 2010).
#include "interface/path.glsl"
#include "film/accumulate.glsl"

int finish_path(in Radiance radiance, inout Film film) {
    film_add(film, film_clamp(radiance.rgb, path_clamp));
    return int(film.count) < path_samples ? EXIT_AGAIN : EXIT_DONE;
}
