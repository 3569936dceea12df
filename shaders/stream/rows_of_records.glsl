// Records, a texel in each texture, into the texels of a memory: those of a record one behind the other. "record"
// declares RECORD_TEXELS and ``vec4 record_texel(int number, int texel)``.

uniform int row;    // texels in a row of the target
uniform int first;  // texel of the first record
uniform int count;  // records

out vec4 texel;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int place = at.y * row + at.x - first;
    if (place < 0 || place >= count * RECORD_TEXELS) discard;
    // Vector units divide floats; beyond 2^24 texels alone is the quotient off by one.
    int number = int((float(place) + 0.5) * (1.0 / float(RECORD_TEXELS)));
    number += int(place >= (number + 1) * RECORD_TEXELS) - int(place < number * RECORD_TEXELS);
    texel = record_texel(number, place - number * RECORD_TEXELS);
}
