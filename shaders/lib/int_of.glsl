// Integers that streams and memories hold as floats of the same value (Purcell 2004, section 3.2).
//   int int_of(float x): within 2^22 either way. int row_of(float x): the number of a table's row.
//   The same of vec2, vec3 and vec4.
// By their bits: 12582912 = 3 * 2^22 moves x to where a float's last bit is 1. From Mesa 24 on int() saturates, which
// llvmpipe does lane by lane: 1.8 ns a number, and 0.33 so. Row numbers where no table of the program has more rows
// than that (raystream.stream.compile.generate). Chips convert in one instruction.
#ifdef HAVE_GPU_FORM
int int_of(float x) { return int(x); }
ivec2 int_of(vec2 x) { return ivec2(x); }
ivec3 int_of(vec3 x) { return ivec3(x); }
ivec4 int_of(vec4 x) { return ivec4(x); }
#else
int int_of(float x) { return floatBitsToInt(x + 12582912.0) - 0x4B400000; }
ivec2 int_of(vec2 x) { return floatBitsToInt(x + 12582912.0) - 0x4B400000; }
ivec3 int_of(vec3 x) { return floatBitsToInt(x + 12582912.0) - 0x4B400000; }
ivec4 int_of(vec4 x) { return floatBitsToInt(x + 12582912.0) - 0x4B400000; }
#endif
#ifdef HAVE_SMALL_TABLES
int row_of(float x) { return int_of(x); }
ivec2 row_of(vec2 x) { return int_of(x); }
ivec3 row_of(vec3 x) { return int_of(x); }
ivec4 row_of(vec4 x) { return int_of(x); }
#else
int row_of(float x) { return int(x); }
ivec2 row_of(vec2 x) { return ivec2(x); }
ivec3 row_of(vec3 x) { return ivec3(x); }
ivec4 row_of(vec4 x) { return ivec4(x); }
#endif
