// Geometry of a scene whose triangles and quadrics are all in world space: a face whose first corner is -n - 1 stands
// for quadric n, whose colour runs along it between those of the other two.
#include "interface/quadric.glsl"
#define geometry_at polygon_at
#include "shading/geometry_flat.glsl"
#undef geometry_at

// The surface at a hit.
Geometry geometry_at(Ray ray, Hit hit) {
    Face face = fetch_faces(hit.triangle);
    Geometry at;
    if (face.corners.x < 0) {
        at = quadric_at(ray, hit.t, -face.corners.x - 1);
        at.color = mix(fetch_vertices(face.corners.y).color, fetch_vertices(face.corners.z).color, at.uv.y);
    } else at = polygon_at(ray, hit);
    if (face.corners.x < 0) find_no_lift();
    at.material = face.material;
    return at;
}
