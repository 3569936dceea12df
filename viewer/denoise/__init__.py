"""Denoisers: of a film and its feature buffers they make a picture with less noise; the film stays as it is."""
