// A photon at a surface: it is stored where that is not a mirror or glass alone (Jensen 2001, section 5.2).
#include "interface/bsdf.glsl"
#include "interface/photon.glsl"

int store_photon(in Interaction interaction, in Path path, out Photon photon) {
    int stored = !bsdf_delta(interaction) && path.depth >= photon_from ? 1 : 0;
    photon = Photon(interaction.position, stored, path.throughput, path.depth, -interaction.wo);
    return EXIT_DONE;
}
