// The settings of Whitted's tracer: what a module provides.
//   int whitted_shadows      1: shadow rays are cast; 0: every light reaches every surface that faces it
//   int whitted_reflections  1: mirrors and glass reflect
//   int whitted_refractions  1: glass refracts
//   float whitted_min_intensity  weight that a reflected or refracted ray has to exceed in a channel; 0: any does
