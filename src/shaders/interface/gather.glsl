// The settings of a final gather: what a module provides.
//   int gather_rays    from each surface
