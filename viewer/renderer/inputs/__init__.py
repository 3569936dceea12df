"""Values that a renderer is made of: settings, a prepared scene, and the differences of two."""
