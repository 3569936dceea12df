// The sRGB transfer function, IEC 61966-2-1.

// Linear light to display values, both 0 .. 1; clipped.
vec3 srgb(vec3 linear) {
    vec3 light = clamp(linear, 0.0, 1.0);
    vec3 low = light * 12.92, high = 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055;
    return mix(high, low, lessThanEqual(light, vec3(0.0031308)));
}

// Display values to linear light, both 0 .. 1.
vec3 linear_from_srgb(vec3 encoded) {
    vec3 low = encoded / 12.92, high = pow((encoded + 0.055) / 1.055, vec3(2.4));
    return mix(high, low, lessThanEqual(encoded, vec3(0.04045)));
}
