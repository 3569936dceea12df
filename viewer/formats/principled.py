"""The kind of surface of a file's material."""

from __future__ import annotations

from viewer.scene.material import Material


def kind_of(material: Material) -> str:
    """``lambert`` if only the diffuse lobe of ``principled`` is left, at full opacity and without normal map."""
    return "lambert" if is_diffuse(material) else "principled"


def is_diffuse(material: Material) -> bool:
    """Whether only base colour and emission of a principled material have an effect."""
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
