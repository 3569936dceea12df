// Light passes through the matte base, and leaves it scattered (KHR_materials_diffuse_transmission).

// What passes, of below, which comes to the matte base; diffuse is left with what does not.
vec3 leaf_through(Principled material, float below, inout vec3 diffuse) {
    diffuse *= 1.0 - material.diffuse_transmission;
    return material.diffuse_transmission_color * material.diffuse_transmission * below;
}
