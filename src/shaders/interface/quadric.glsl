// What the quadrics of a scene provide, in the space that their rays are in: the world's, or an object's.

// Updates hit where the quadric at an address is hit nearer than hit.t beyond the ray's origin.
void quadric_test(Ray ray, int address, int instance, inout Hit hit);

// The point of a hit on the quadric at an address, on the surface to its rounding. material is not set.
Geometry quadric_at(Ray ray, float t, int address);
