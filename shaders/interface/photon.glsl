// The settings of photon tracing: what a module provides.
//   int photon_pass      which photons: every pass sends other ones
//   float photon_share   1 / photons that are sent in the pass
//   int photon_bounces   surfaces that a photon may leave
//   int photon_from      surfaces that a photon must have left to be stored: 1 where shadow rays bring the direct light
