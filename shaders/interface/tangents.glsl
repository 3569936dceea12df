// What the scene's geometry provides where materials have normal maps, a direction, or second texture coordinates.

// Tangent, not of unit length, and second texture coordinates of the point that a ray hits. Where the mesh has no
// tangents they follow from its first texture coordinates; zero where these say nothing.
VertexTangents tangents_at(Hit hit);

// The face of a hit, with the material that it has there.
Face opacity_face(Hit hit);

// Its address: every object's faces are there once.
int face_number(Hit hit);
