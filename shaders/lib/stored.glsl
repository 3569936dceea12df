// A number rounded to 24-bit floats, s16e7 (Purcell 2004, section 5.3: ATI Radeon 9700 Pro), to nearest even; underflow
// gives zero, overflow the largest number; NaN stays. Twin of rounded() in viewer/stream/declare/limits.py.

vec4 stored(vec4 values) {
    uvec4 bits = floatBitsToUint(values);
    uvec4 magnitude = bits & 0x7FFFFFFFu;
    uvec4 rounded = (magnitude + 0x3Fu + ((magnitude >> 7) & 1u)) & 0xFFFFFF80u;
    rounded = min(rounded, uvec4(0x5F7FFF80u)) * uvec4(greaterThanEqual(rounded, uvec4(0x20800000u)));
    vec4 result = uintBitsToFloat((bits & 0x80000000u) | rounded);
    return mix(result, values, greaterThan(magnitude, uvec4(0x7F800000u)));
}
