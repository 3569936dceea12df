// Rays of the camera's view: from the camera, and on through mirrors and glass. They pass through culled back faces
// (glTF 2.0, 3.9.5); shadow rays and scattered rays hit them.

const int RAY_VIEW = 131072;  // of Ray.any_hit, above the sample's number; viewer/kernels/records.py has it, too
