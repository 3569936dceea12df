// Light as it arrives on a level floor that nothing shades.

// A unit direction that the environment's comes from, in proportion to luminance times cosine. u in [0, 1).
vec3 floor_light(vec2 u);

// In its place, where a point of a light is chosen, the direction and the distance of that. total: luminance of the
// irradiance that all candidates bring. point: in [0, 1).
void choose_floor_point(
    ivec2 pixel, int sample_number, vec3 at, vec2 point, inout float total, inout vec3 direction, inout float distance
);
