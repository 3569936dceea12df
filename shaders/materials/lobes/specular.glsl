// Strength and colour of what the base's dielectric reflects (KHR_materials_specular).

void specular_factors(Principled material, inout vec3 f0, inout vec3 f90) {
    f90 = vec3(material.specular_factor);
    f0 = min(f0 * material.specular_color, vec3(1.0)) * material.specular_factor;
}
