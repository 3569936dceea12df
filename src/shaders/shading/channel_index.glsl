// A dielectric's index for red, green or blue (0, 1, 2): its parameter is green's, specular the half spread
// (KHR_materials_dispersion, section "Implementation", where no index falls below 1).
float channel_index(Interaction at, int channel) {
    return at.specular > 0.0 ? max(at.parameter + float(channel - 1) * at.specular, 1.0) : at.parameter;
}
