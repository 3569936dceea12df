// What the scene's geometry provides.

// The point that a ray hits, from the triangle's corners; front and back of both normals are those of the winding.
Geometry geometry_at(Ray ray, Hit hit);
