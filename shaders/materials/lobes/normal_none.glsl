// No normal maps of the base: materials/lobes/normal.glsl.

vec3 principled_normal(Interaction at, Principled material, vec3 wo) { return dot(at.shading, wo) >= 0.0 ? at.shading : -at.shading; }

void principled_soften(vec3 shading, vec3 normal, vec3 wi, inout vec3 diffuse, inout vec3 through) {}
