// The photon of a point, fetched from the stream of photons: nothing is read back.

void photon_of_point(out int cell, out int photon, out vec3 power) {
    Entry entry = fetch_kept(gl_VertexID);
    cell = entry.cell;
    photon = entry.photon;
    power = fetch_photons(photon).power;
}
