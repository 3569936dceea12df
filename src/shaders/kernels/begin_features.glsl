// Begins the camera's ray of a pixel's next sample, the same that a path of that number begins with; or ends its work.
#include "interface/path.glsl"
#include "lib/first_ray.glsl"

int begin_features(in Pixel pixel, in Features features, out Ray ray) {
    int number = int(features.count);
    ray = first_ray(pixel.at, number);
    return number < path_samples ? EXIT_RAY : EXIT_DONE;
}
