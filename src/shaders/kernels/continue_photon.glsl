// The next bounce of a photon, from where it was emitted or the last frame left it: one whose power is zero has ended.

int continue_photon(in Path path, out Photon photon) {
    photon = Photon(vec3(0.0), 0, vec3(0.0), 0, vec3(0.0));
    return any(greaterThan(path.throughput, vec3(0.0))) ? EXIT_RAY : EXIT_DONE;
}
