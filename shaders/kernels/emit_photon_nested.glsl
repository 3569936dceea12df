// As emit_photon.glsl, outside of all volumes.
#include "kernels/emit_photon.glsl"

int emit_photon_nested(in Pixel pixel, out Ray ray, out Path path, out Photon photon, out Media media) {
    media = Media(0);
    return emit_photon(pixel, ray, path, photon);
}
