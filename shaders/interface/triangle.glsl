// What a triangle test provides; Shear is what it prepares once per ray.

Shear triangle_shear(Ray ray);

// Updates hit where the triangle is hit nearer than hit.t, or as near by a lower number, beyond the ray's origin.
void triangle_test(Ray ray, Shear shear, int number, inout Hit hit);
