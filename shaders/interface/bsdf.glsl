// How surfaces scatter. wo points to where the path came from, wi to where it goes on: unit vectors, world space.
// The constants BSDF_LAMBERT, BSDF_MIRROR, BSDF_DIELECTRIC, BSDF_PHONG, BSDF_PRINCIPLED and, where a scene has it,
// BSDF_CLASSIC are values of interaction_kind.
#include "interface/interaction.glsl"

// The BSDF times |cos(wi, shading normal)|; 0 for kinds that scatter into single directions.
vec3 bsdf_value(Interaction at, vec3 wo, vec3 wi);

// Density per solid angle with which bsdf_sample picks wi; 0 for kinds that scatter into single directions.
float bsdf_pdf(Interaction at, vec3 wo, vec3 wi);

// Both: the value, and the density.
vec3 bsdf_evaluate(Interaction at, vec3 wo, vec3 wi, out float pdf);

// The share of light that it scatters out of ambient light, which is alike from all sides; 0 for kinds that scatter into
// single directions.
vec3 bsdf_reflectance(Interaction at);

// Picks wi with u in [0, 1)^3 (direction, direction, lobe). weight: value / density; pdf: the density, 0 for kinds that
// scatter into single directions, and for the share of another kind that does. False: absorbed.
bool bsdf_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf);

// Whether it scatters into single directions only, so that no light can be sampled for it.
bool bsdf_delta(Interaction at);

// The same, but false for materials of glTF's.
bool bsdf_single(Interaction at);

// Index of refraction behind the surface, relative to that in front; 1 where light is not refracted.
float bsdf_index(Interaction at);

// From where light comes in to where it leaves behind, towards wi, where there are sheets of glass: zero of all else.
// Scene units.
vec3 bsdf_shift(Interaction at, vec3 wi);

// The single directions that it reflects and refracts into, with their weights, whatever their share; weights are 0
// where it does neither.
void bsdf_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
);
