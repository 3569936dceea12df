// No light passes through the matte base: materials/lobes/leaf.glsl.

vec3 leaf_through(Principled material, float below, inout vec3 diffuse) { return vec3(0.0); }
