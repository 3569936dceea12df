// No thin film over the base: materials/lobes/film.glsl.
struct ThinFilm {
    float unused;
};

ThinFilm film_of(Principled material) {
    return ThinFilm(0.0);
}

void film_facet(ThinFilm film, float metallic, vec3 color, vec3 f0, float cosine, inout vec3 metal, inout vec3 dielectric) {}

void film_albedo(
    ThinFilm film, float metallic, vec3 color, vec3 f0, float cosine, bool single, float ior, float albedo, float rise,
    inout vec3 metal, inout vec3 dielectric
) {}
