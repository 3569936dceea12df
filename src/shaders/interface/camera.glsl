// What a camera provides. Origins and unit directions, world space; row 0 is at the top of the picture.

// Through a pixel's centre, and the middle of the lens.
void camera_ray(ivec2 pixel, out vec3 origin, out vec3 direction);

// How much wider the cone of a pixel's ray is for each unit of distance.
float camera_spread(vec3 direction);

// How wide it is at a point.
float camera_pixel(vec3 point);

// Through a point near the pixel that the filter chooses with film_u, and one of the lens with lens_u; both in [0, 1).
// Samples of a picture count alike: the filter's weight is in the choice.
void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction);
