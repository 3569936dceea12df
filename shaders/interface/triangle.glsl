// What a triangle test provides; TriangleSetup is prepared once per ray.

TriangleSetup triangle_setup(Ray ray);

// Updates hit where the triangle at an address is hit nearer than hit.t beyond the ray's origin.
void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit);
