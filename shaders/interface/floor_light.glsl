// Light of the environment as it arrives on a level floor that nothing shades.

// A unit direction that it comes from, in proportion to luminance times cosine. u in [0, 1).
vec3 floor_light(vec2 u);
