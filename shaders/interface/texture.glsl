// What the scene's textures provide: lookups of a texture (its address) at a place: texture coordinates of the mesh, and
// log2 of the side of the square of them that a ray covers there, plus a number in [0, 1) by which the mip level is
// chosen: so much of it for all that is looked up at a hit, at random from hit to hit. White for -1.

// A ray without a width, which sees every texel.
const float TEXTURE_SHARP = -1e3;

// Colour, linear sRGB.
vec3 texture_color(int number, vec3 place);

// All channels, of a mesh with two sets of coordinates: of colours linear sRGB and opacity, of data as they are.
vec4 texture_texel(int number, vec3 place, vec3 second, bool color);
