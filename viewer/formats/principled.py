"""Which kind of surface a file's material becomes."""

from __future__ import annotations

from viewer.scene.material import Material

# Whether materials that are not plain diffuse become `principled`; if not, mirrors, clear glass and Lambert stand in.
PRINCIPLED = True


def kind_of(material: Material) -> str:
    """``lambert`` where only the diffuse lobe of ``principled`` is left, at full opacity and without normal map."""
    if PRINCIPLED:
        return "lambert" if is_diffuse(material) else "principled"
    if material.metallic >= 0.5:
        return "mirror" if material.roughness < 0.1 else "lambert"
    return "dielectric" if material.transmission > 0.0 else "lambert"


def is_diffuse(material: Material) -> bool:
    """Whether no field of a principled material has an effect beside base colour and emission."""
    lobes = (
        material.metallic,
        material.specular_factor,
        material.transmission,
        material.clearcoat,
        material.iridescence,
        *material.sheen_color,
        material.diffuse_transmission,
    )
    plain = material.alpha_mode == "opaque" and not material.unlit and material.normal_texture is None
    return plain and not any(lobes)
