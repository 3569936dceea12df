// The numbers of a classic material, by its address.

const int CLASSIC_COLORED = 1, CLASSIC_LIT = 2;  // bits of the flags

Classic classic_material(int material) {
    return fetch_classics(material);
}
