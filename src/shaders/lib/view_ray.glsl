// Rays that the camera sees along: from it, and on by mirrors and through glass. They pass through back faces that are
// culled (glTF 2.0, 3.9.5); shadow rays, and those of scattered light, meet them.

const int RAY_VIEW = 131072;  // of Ray.any_hit, above the sample's number; viewer/kernels/records.py has it, too
