// Normals of maps.
#include "interface/interaction.glsl"

// The normal of a map, world space, on the front side; texel: in its space.
vec3 principled_mapped(Interaction at, vec3 texel) {
    vec3 tangent, bitangent;
    interaction_tangents(at, tangent, bitangent);
    return normalize(tangent * texel.x + bitangent * texel.y + at.shading * texel.z);
}
