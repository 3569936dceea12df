// Texels of a byte per channel: 0 .. 1.

vec4 texel_value(int flags, int start, int number) {
    return fetch_texels(start + number);
}
