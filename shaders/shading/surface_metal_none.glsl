// No texture says where surfaces are metal: shading/surface_metal.glsl.

int surface_metal(Geometry at) { return 0; }
