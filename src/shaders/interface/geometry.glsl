// What the scene's geometry provides.

// The point that a ray hits, from the triangle's corners; front and back of both normals are those of the winding.
Geometry geometry_at(Ray ray, Hit hit);
#ifdef HAVE_SMOOTH

// From the point of the last geometry_at to the one above it that shading starts at, on the ray's side; zero where there
// is none: lib/smooth_lift.glsl.
vec3 geometry_lift;
#endif
