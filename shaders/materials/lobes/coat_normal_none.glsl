// No normal maps of the clear coat: materials/lobes/coat_normal.glsl.

vec3 coat_normal(Interaction at, Principled material) { return at.shading; }
