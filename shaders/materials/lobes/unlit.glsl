// Surfaces that shine by their colour, and scatter nothing (KHR_materials_unlit).

bool principled_unlit(Principled material) { return material.unlit == 1; }
