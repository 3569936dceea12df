// Records, a texel in each texture, into the texels of a memory: those of a record one behind the other. "record"
// declares RECORD_TEXELS and ``vec4 record_texel(int number, int texel)``.

uniform int row;    // texels in a row of the target
uniform int first;  // texel of the first record
uniform int count;  // records

out vec4 texel;

void main() {
    ivec2 target_texel = ivec2(gl_FragCoord.xy);
    int texel_number = target_texel.y * row + target_texel.x - first;
    if (texel_number < 0 || texel_number >= count * RECORD_TEXELS) discard;
    // Vector units divide floats; beyond 2^24 texels alone is the quotient off by one.
    int number = int((float(texel_number) + 0.5) * (1.0 / float(RECORD_TEXELS)));
    number += int(texel_number >= (number + 1) * RECORD_TEXELS) - int(texel_number < number * RECORD_TEXELS);
    texel = record_texel(number, texel_number - number * RECORD_TEXELS);
}
