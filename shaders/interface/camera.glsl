// What a camera provides.

// Origin and unit direction, world space, through a pixel's centre; row 0 is at the top.
void camera_ray(ivec2 pixel, out vec3 origin, out vec3 direction);
