// Brushed surfaces (KHR_materials_anisotropy): the base's frame lies along the surface's own direction.
#include "interface/interaction.glsl"
#include "materials/ggx.glsl"

void anisotropic_frame(
    Interaction at, Principled material, vec3 normal, inout vec3 right, inout vec3 up, inout vec2 alpha
) {
    vec3 tangent, bitangent;
    interaction_tangents(at, tangent, bitangent);
    vec3 direction = tangent * material.anisotropy_axis.x + bitangent * material.anisotropy_axis.y;
    direction -= normal * dot(direction, normal);
    if (material.anisotropy > 0.0 && dot(direction, direction) > 1e-12) {
        right = normalize(direction);
        up = cross(normal, right);
        alpha = ggx_alpha_anisotropic(material.roughness, material.anisotropy);
    }
}

// Whether it hardly stretches what is reflected: a smooth surface is then a mirror.
bool anisotropy_small(Principled material) { return material.anisotropy < 0.3; }
