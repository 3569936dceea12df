// The base's dielectric reflects by its index alone: materials/lobes/specular.glsl.

void specular_factors(Principled material, inout vec3 f0, inout vec3 f90) {}
