// No brushed surfaces: materials/lobes/anisotropy.glsl.

void anisotropic_frame(
    Interaction at, Principled material, vec3 normal, inout vec3 right, inout vec3 up, inout vec2 alpha
) {}

bool anisotropy_small(Principled material) { return true; }
