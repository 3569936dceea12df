// A photon at a surface: it is stored where that is not a mirror or glass alone (Jensen 2001, section 5.2). Those that
// only specular surfaces brought here are caustic photons; the pdf of a photon's path is 0 as long as there is no other.
// Power that is no number is not stored: told by bits, for compilers may remove NaN from comparisons.
#include "interface/bsdf.glsl"
#include "interface/photon.glsl"
#include "lib/far.glsl"

int store_photon(in Interaction interaction, in Path path, out Photon photon) {
    bool caustic = path.depth > 0 && path.pdf == 0.0;
    int stored = (caustic ? PHOTON_CAUSTIC : PHOTON_INDIRECT) & photon_kinds;
    uint power_bits = floatBitsToUint(path.throughput.x + path.throughput.y + path.throughput.z) & 0x7FFFFFFFu;
    if (bsdf_delta(interaction) || path.depth < photon_from || power_bits >= floatBitsToUint(FAR)) stored = 0;
    photon = Photon(interaction.position, stored, path.throughput, path.depth, -interaction.wo);
    return EXIT_DONE;
}
