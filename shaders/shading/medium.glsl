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

int media_with(int inside, int medium) {
    ivec4 held = media_digits(inside), digits;
    digits.x = max(held.x, medium);
    int next = min(held.x, medium);
    digits.y = max(held.y, next);
    next = min(held.y, next);
    digits.z = max(held.z, next);
    digits.w = max(held.w, min(held.z, next));
    return media_number(digits);
}

int media_without(int inside, int medium) {
    ivec4 held = media_digits(inside);
    bool x = held.x == medium, y = x || held.y == medium, z = y || held.z == medium, w = z || held.w == medium;
    return media_number(ivec4(x ? held.y : held.x, y ? held.z : held.y, z ? held.w : held.z, w ? 0 : held.w));
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
