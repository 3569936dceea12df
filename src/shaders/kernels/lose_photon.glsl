// A photon leaves the scene.

int lose_photon(inout Path path) {
    path.throughput = vec3(0.0);
    return EXIT_DONE;
}
