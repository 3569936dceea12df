// The setting of resampled direct light: what a module provides.
//   int light_candidates    points of lights of which one gets the shadow ray
