// A floor without end that only camera rays meet: what falls on it is seen, it is not.

// Whether a camera ray comes down on the floor, and at which distance.
bool floor_meets(Ray ray, out float distance);

// How much of a mirrored ray is seen where it meets the model: all at the floor, nothing at floor_reach above it.
// facing: cosine between the view and the floor's normal; height: of what is mirrored, scene units above the floor.
float floor_mirrors(float facing, float height);
