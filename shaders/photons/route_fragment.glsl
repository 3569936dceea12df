// Stencil routing (Purcell et al. 2003, section 2.2.2): the stencil admits one texel of the footprint.

flat in int cell;
flat in int photon;
flat in vec3 power;
layout(location = 0) out vec4 out_0;

void main() {
    pack_Entry(Entry(cell, photon), out_0);
}
