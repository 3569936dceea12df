// All surfaces scatter light: materials/lobes/unlit.glsl.

bool principled_unlit(Principled material) { return false; }
