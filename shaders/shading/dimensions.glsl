// Which random numbers of a sample a surface takes; the constants are counted in viewer/materials/bsdf.py.

// The first one of those that a path takes at a surface, by the surfaces that it has left.
int surface_dimension(int depth) {
    return DIMENSIONS_OF_CAMERA + DIMENSIONS_OF_SURFACE * depth;
}
