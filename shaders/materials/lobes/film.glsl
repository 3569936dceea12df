// A thin film over the base (KHR_materials_iridescence), which changes what microfacets of metal and of the dielectric
// reflect.
#include "materials/iridescence.glsl"
#include "materials/specular.glsl"

struct ThinFilm {
    float share, index, thickness;
};

ThinFilm film_of(Principled material) {
    return ThinFilm(material.iridescence, material.iridescence_ior, material.iridescence_thickness.x);
}

// Fresnel's reflectance under the film, of metal and of the dielectric. A loop, so that it is in the source once; of metal
// where there is some.
void film_both(ThinFilm film, float metallic, vec3 color, vec3 f0, float cosine, out vec3 metal, out vec3 dielectric) {
    metal = dielectric = vec3(0.0);
    for (int k = metallic > 0.0 ? 0 : 1; k < 2; k++) {
        vec3 substrate = k == 0 ? color : f0;
        vec3 reflectance = iridescent_fresnel(cosine, 1.0, film.index, film.thickness, substrate);
        metal = k == 0 ? reflectance : metal;
        dielectric = reflectance;
    }
}

// Of a microfacet.
void film_facet(ThinFilm film, float metallic, vec3 color, vec3 f0, float cosine, inout vec3 metal, inout vec3 dielectric) {
    vec3 metal_under_film, dielectric_under_film;
    film_both(film, metallic, color, f0, cosine, metal_under_film, dielectric_under_film);
    metal = mix(metal, metal_under_film, film.share);
    dielectric = mix(dielectric, dielectric_under_film, film.share);
}

// Of the whole lobe: of metal as of a microfacet, of a rough dielectric in all. single: it is a mirror.
void film_albedo(
    ThinFilm film, float metallic, vec3 color, vec3 f0, float cosine, bool single, float ior, float albedo, float rise,
    inout vec3 metal, inout vec3 dielectric
) {
    float cos_behind;
    vec3 metal_under_film, dielectric_under_film;
    film_both(film, metallic, color, f0, cosine, metal_under_film, dielectric_under_film);
    metal = mix(metal, metal_under_film, film.share);
    if (!single) {
        vec3 straight_f0 = iridescent_f0(dielectric_under_film, fresnel_rise(cosine, ior, cos_behind));
        dielectric_under_film = specular_albedo(straight_f0, vec3(1.0), albedo, rise);
    }
    dielectric = mix(dielectric, dielectric_under_film, film.share);
}
