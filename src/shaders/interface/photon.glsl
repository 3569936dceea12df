// The settings of photon tracing: what a module provides.
//   int photon_pass      which photons: every pass sends other ones
//   int photon_kinds     which of these are stored: the sum of PHOTON_INDIRECT and PHOTON_CAUSTIC, or one of them;
//                        caustic photons alone are aimed at what is specular, and end where no other follows
//   int photon_width     of the stream of photons, that are numbered by rows
//   float photon_share   1 / photons that are sent in the pass
//   int photon_bounces   surfaces that a photon may leave
//   int photon_from      surfaces that a photon must have left to be stored: 1 where shadow rays bring the direct light

// The random numbers of photons are those of samples: 2^16 photons of a pass are the samples of one pixel, which all
// dimensions share out evenly, in any number of them from the first on.
int photon_number(ivec2 at) {
    return at.y * photon_width + at.x;
}
ivec2 photon_pixel(int number) {
    return ivec2(photon_pass, (number >> 16) + (photon_kinds == PHOTON_CAUSTIC ? 64 : 0));
}
int photon_sample(int number) {
    return number & 65535;
}
