// Records, a texel in each texture, into a texture in which the texels of a record lie one behind the other, row by row
// of the same records. "record" declares RECORD_TEXELS and ``vec4 record_texel(vec2 place, int texel)``.

out vec4 texel;

void main() {
    float column = floor(gl_FragCoord.x * (1.0 / float(RECORD_TEXELS)));
    vec2 place = vec2(column + 0.5, gl_FragCoord.y) * (1.0 / vec2(textureSize(in_0, 0)));
    texel = record_texel(place, int(gl_FragCoord.x - float(RECORD_TEXELS) * column));
}
