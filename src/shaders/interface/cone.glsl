// What ray cones provide: how wide rays are, so that textures are looked up at the mip levels that fit. All are 0 where
// there are no textures.

// The cone of a camera's ray: how much wider it is for each unit of distance, and a factor of its width: 1 .. 2 at random,
// less for later samples of a pixel.
// Its log2 is a number in [0, 1) that is added to the level before it is rounded down: the levels on either side are
// then chosen by how near they are.
vec2 cone_of_pixel(ivec2 pixel, int number, vec3 direction);

// The width, scene units, of a ray from there after a distance, times its factor.
float cone_width(vec2 cone, vec3 origin, float t);

// The cone after a surface from which the path goes on with that density; 0: into a single direction.
vec2 cone_scattered(vec2 cone, float pdf);
