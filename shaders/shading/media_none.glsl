// Rays outside of all media: volumes lie apart, and their own surfaces tell what they absorb (shading/volume.glsl).
#include "interface/media.glsl"

Media media_of(int number) {
    return Media(0.0);
}

int media_number(Media media) {
    return 0;
}

Media media_behind(Media media, Interaction at, vec3 direction) {
    return media;
}

vec3 media_transmitted(Media media, Interaction at, vec3 direction, float distance, vec3 light) {
    return light;
}

void media_surround(Media media, inout Interaction at) {}
