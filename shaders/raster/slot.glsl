// Slots of instances, as viewer/stream/raster.py fills them: of each the rows from its mesh's space to column and
// row, -1 .. 1 times the depth, and depth; then what the program wants to know of it.
uniform sampler2D in_slots;

const int SLOTS = 256;  // in a row

vec4 slot_texel(int slot, int k) {
    int texels = textureSize(in_slots, 0).x / SLOTS, row = slot / SLOTS;
    return texelFetch(in_slots, ivec2(texels * (slot - row * SLOTS) + k, row), 0);
}
