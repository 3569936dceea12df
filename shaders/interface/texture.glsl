// What the scene's textures provide.

// The colour, linear sRGB, of a texture (its address) at a mesh's texture coordinates; white for -1.
vec3 texture_color(int number, vec2 uv);
