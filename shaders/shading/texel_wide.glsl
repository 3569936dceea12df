// Texels of images of which some have 16 bits per channel: integers, which stand for 0 .. 1, or halfs (IEEE 754-2008,
// section 3.4) that are finite. They take two texels of the memory, the upper byte first.

vec4 half_value(ivec4 bits) {
    ivec4 exponent = (bits >> 10) & 31;
    ivec4 is_normal = min(exponent, 1);  // 0 where there is no leading 1
    vec4 magnitude = vec4((bits & 1023) + 1024 * is_normal) * intBitsToFloat((exponent - is_normal + 103) << 23);
    return mix(magnitude, -magnitude, greaterThan(bits, ivec4(32767)));
}

// Texel `number` of an image that begins at texel `start`: 0 .. 1, or a half.
vec4 texel_value(int flags, int start, int number) {
    bool is_wide = (flags & TEXTURE_WIDE) != 0;
    int address = start + (is_wide ? 2 * number : number);
    vec4 first = fetch_texels(address);
    if (!is_wide) return first;
    vec4 second = fetch_texels(address + 1);
    vec4 upper = vec4(first.xz, second.xz), lower = vec4(first.yw, second.yw);
    ivec4 bits = ivec4(upper * 255.0 + 0.5) * 256 + ivec4(lower * 255.0 + 0.5);
    return (flags & TEXTURE_HALF) != 0 ? half_value(bits) : vec4(bits) / 65535.0;
}
