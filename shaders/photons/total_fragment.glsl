// Sums by cell: powers, and the number of photons.

flat in int cell;
flat in int photon;
flat in vec3 power;
layout(location = 0) out vec4 out_0;

void main() {
    pack_Total(Total(power, 1.0), out_0);
}
