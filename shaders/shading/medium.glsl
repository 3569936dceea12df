// Media that rays are within: numbers of digits in descending order.
#include "interface/medium.glsl"

ivec4 media_digits(int inside) {
    return (ivec4(inside) >> ivec4(0, MEDIA_BITS, 2 * MEDIA_BITS, 3 * MEDIA_BITS)) & MEDIA_MOST;
}

int media_number(ivec4 digits) {
    return digits.x | (digits.y << MEDIA_BITS) | (digits.z << (2 * MEDIA_BITS)) | (digits.w << (3 * MEDIA_BITS));
}

int medium_of(int material) {
    return fetch_medium_ranks(material).rank;
}

int media_top(int inside) {
    return inside & MEDIA_MOST;
}

// The media with one more; of five the lowest is forgotten.
int media_with(int inside, int medium) {
    ivec4 previous = media_digits(inside), digits;
    digits.x = max(previous.x, medium);
    int remaining = min(previous.x, medium);
    digits.y = max(previous.y, remaining);
    remaining = min(previous.y, remaining);
    digits.z = max(previous.z, remaining);
    digits.w = max(previous.w, min(previous.z, remaining));
    return media_number(digits);
}

// The media without one of this number, if it is among them.
int media_without(int inside, int medium) {
    ivec4 previous = media_digits(inside);
    bool from_x = previous.x == medium, from_y = from_x || previous.y == medium, from_z = from_y || previous.z == medium, from_w = from_z || previous.w == medium;
    return media_number(ivec4(from_x ? previous.y : previous.x, from_y ? previous.z : previous.y, from_z ? previous.w : previous.z, from_w ? 0 : previous.w));
}

bool media_hold(int inside, int medium) {
    return any(equal(media_digits(inside), ivec4(medium)));
}

float medium_index(int medium, int channel) {
    Medium entry = fetch_media(medium);
    return channel > 0 && entry.half_spread > 0.0 ? max(entry.ior + float(channel - 2) * entry.half_spread, 1.0) : entry.ior;
}

bool medium_parts(int medium) {
    return fetch_media(medium).half_spread > 0.0;
}

vec3 medium_transmittance(int medium, float distance) {
    return exp(-fetch_media(medium).attenuation * distance);
}
