// How bright a texture shines on the face of a hit, over what its factor alone would be: with that share of its material's
// density a point there is chosen as a light.
#include "interface/tangents.glsl"

float emission_share(Hit hit) {
    return fetch_emission_shares(face_number(hit)).share;
}
