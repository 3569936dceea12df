// What the scene's materials provide.

// The surface at a hit as a BSDF takes it. emission: radiance, linear sRGB, that leaves towards the ray's origin, from
// the front face only. width: of the ray's cone there, by which textures choose their mip levels; 0: the largest. light_pdf: density, per unit of world area, with which light_sample picks this point.
Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf);
