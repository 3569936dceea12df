// Adds a finished sample to the film, and its layers to the pixel's sums; lets the next one begin, as finish_path does.
#include "film/accumulate.glsl"
#include "lib/add_light_split.glsl"

int finish_sorted_path(in LightSplit split, inout Film film, inout LightSums sums) {
    add_light_split(split, sums);
    film_add(film, film_clamp(split.whole, path_clamp));
    return int(film.count) < path_samples ? EXIT_AGAIN : EXIT_DONE;
}
