// What glTF's materials keep of a place, packed so that an interaction stays within five texels: the third of a place's
// numbers holds the textures' level, in steps of 1/64 from -40 on, times 4096; the angle of the tangent in
// frame_around(shading), in steps of a 2048th of a turn; and 2048 where the image is mirrored. Whole numbers below 2^24.
#include "interface/interaction.glsl"
#include "lib/hemisphere.glsl"

void set_interaction_place(inout Interaction at, vec3 place, vec4 tangent) {
    vec3 right, up;
    frame_around(at.shading, right, up);
    vec2 projected = vec2(dot(tangent.xyz, right), dot(tangent.xyz, up));
    float angle = dot(projected, projected) > 0.0 ? atan(projected.y, projected.x) * 0.15915494 : 0.0;
    float angle_steps = floor((angle - floor(angle)) * 2048.0), level_steps = floor((clamp(place.z, -40.0, 23.9) + 40.0) * 64.0);
    at.place = vec3(place.xy, level_steps * 4096.0 + mod(angle_steps, 2048.0) + (tangent.w < 0.0 ? 2048.0 : 0.0));
}

// Tangent and bitangent of the image, about the shading normal of the front.
void interaction_tangents(Interaction at, out vec3 tangent, out vec3 bitangent) {
    vec3 right, up;
    int packed_place = int(at.place.z) & 4095;
    float angle = float(packed_place & 2047) * 3.0679616e-3, side = packed_place > 2047 ? -1.0 : 1.0;
    frame_around(at.shading, right, up);
    tangent = right * cos(angle) + up * sin(angle);
    bitangent = cross(at.shading, tangent) * side;
}

// Where textures are looked up: see interface/texture.glsl.
vec3 interaction_place(Interaction at) {
    return vec3(at.place.xy, float(int(at.place.z) >> 12) * 0.015625 - 40.0);
}
