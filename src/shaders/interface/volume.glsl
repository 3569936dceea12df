// What the scene's volumes provide. Only scenes that have some provide this.

// How much is left, linear sRGB, of light that comes along a ray from its hit.
vec3 volume_transmittance(Ray ray, Hit hit);
