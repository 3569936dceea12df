// The settings of the radiance estimate: what a module provides, beside the photon map's grid.
//   int estimate_photons       k: photons that an estimate asks for; of a search by radius more than there can be
//   float estimate_reach       radius beyond which no photon counts, scene units,
//   float estimate_footprint   to which so much of the distance from the eye is added
//   vec3 estimate_eye          world
//   int estimate_exact         1: all photons of the sphere; 0: the search ends with the shell in which k were found
//   float estimate_slope       c and
//   int estimate_exponent         p of the filter: a photon at distance d counts 1 - c (d / r)^p; 0: alike, whatever c is
//   float estimate_integral    of the filter over the disc, as a share of its area
//   float estimate_caustic     radius for caustic photons alone, as a share of that for others
#include "interface/photon_grid.glsl"

// The square of the radius beyond which no photon counts at a position; caustic: 1 for caustic photons alone.
float estimate_limit(vec3 position, int caustic);
