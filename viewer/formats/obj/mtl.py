"""MTL, the materials of OBJ files (Alias/Wavefront), with the fields of physically based rendering."""

from __future__ import annotations

import math

from raystream.formats.files import short
from raystream.formats.text import decoded, without_mark
from raystream.scene.material import Material

# Largest number of bytes read from a library.
LARGEST = 16 << 20

_COLORS = ("kd", "ke", "ks", "ka", "tf")
# Fields of physically based rendering, and of normal and bump maps.
_PHYSICAL = frozenset(("pr", "pm", "ps", "pc", "pcr", "aniso", "map_pr", "map_pm", "map_ps", "map_pc", "map_pcr"))
_BUMPS = frozenset(("norm", "bump", "map_bump"))
_SHEEN_ROUGHNESS = 0.5  # MTL has none
LARGEST_IOR = 100.0
_NUMBERS = ("ns", "ni", "d", "tr", "pr", "pm", "illum", "pc", "pcr", "ps", "aniso", "anisor", "sharpness")


def read_mtl(content: bytes, name: str, warnings: list[str]) -> list[Material]:
    """The materials of a library; malformed lines are skipped, with a warning that names the first.

    Kd is the base colour, Ke the emission, d (or 1 - Tr) the opacity, where 0 without a picture becomes 1, with a
    warning; Ni is the index of refraction. Roughness is Pr, or
    follows from the exponent Ns (see `roughness_of`). ``source`` keeps all statements by lower-case name;
    `mtl_textures` reads their pictures.

    illum 0 and 1 are matte; 4, 6, 7 and 9 are glass of index Ni (default 1.5) tinted by Tf, if d, Tf or Ni implies
    transmission; 3, 5 and 8 are mirrors of reflectance Ks if that exceeds Kd. Otherwise Ks is the normal reflectance of
    a dielectric layer over Kd. With fields of physically based rendering (Pr, Pm, Ps sheen, Pc and Pcr clearcoat, aniso
    and anisor), Ks is ignored, and Ni sets the reflectance. Purely diffuse materials are ``lambert``, clear mirrors
    ``mirror``, clear glass ``dielectric``, all others ``principled``.
    """
    if len(content) > LARGEST:
        warnings.append(f"{name}: only the first {LARGEST:,} bytes of the materials were read")
        content = content[:LARGEST]
    materials: list[Material] = []
    faults: list[int] = []
    for number, line in enumerate(without_mark(content).splitlines(), 1):
        words = line.split(None, 1)
        if not words or words[0].startswith(b"#"):
            continue
        key, value = decoded(words[0]).lower(), decoded(words[1].strip()) if len(words) > 1 else ""
        if key == "newmtl":
            materials.append(Material(name=value or "material"))
        elif not materials:
            faults.append(number)
        elif key in _COLORS or key in _NUMBERS:
            values = _values(value, 3 if key in _COLORS else 1)
            if values is None:
                faults.append(number)
            else:
                materials[-1].source[key] = values if key in _COLORS else values[0]
        else:
            materials[-1].source[key] = value
    unseen = [material.name for material in materials if _apply(material)]
    if unseen:
        names = ", ".join(short(label, 30) for label in unseen[:5])
        warnings.append(f"{name}: materials of opacity 0 are opaque instead: {names}")
    if faults:
        warnings.append(f"{name}: line {faults[0]} is malformed; {len(faults):,} lines in all were left out")
    return materials


def _values(text: str, count: int) -> list[float] | None:
    """``count`` finite numbers, one standing for three equal ones; None otherwise."""
    words = text.split("#")[0].split()
    if words and words[0] == "-halo":
        words = words[1:]
    try:
        values = [float(word) for word in words]
    except ValueError:  # also 'spectral' and 'xyz'
        return None
    if not values or not all(math.isfinite(value) for value in values):
        return None
    if len(values) >= count:
        return values[:count]
    return values * 3 if len(values) == 1 else None


def clamped(value: float) -> float:
    """The value clamped to 0 .. 1."""
    return min(max(value, 0.0), 1.0)


def _apply(material: Material) -> bool:
    """Set the fields by the statements. Returns whether an opacity of 0 became 1: a slip of exporters that write
    MTL's Tr for d, or d for Tr."""
    source = material.source

    kd = source.get("kd", [0.8, 0.8, 0.8])
    opacity = source["d"] if "d" in source else 1.0 - source.get("tr", 0.0)
    material.base_color = (clamped(kd[0]), clamped(kd[1]), clamped(kd[2]), clamped(opacity))
    ke = source.get("ke", [0.0, 0.0, 0.0])
    material.emission = (max(ke[0], 0.0), max(ke[1], 0.0), max(ke[2], 0.0))
    material.metallic = clamped(source.get("pm", 1.0 if "map_pm" in source else 0.0))
    if "pr" in source:
        material.roughness = clamped(source["pr"])
    elif "ns" in source:
        material.roughness = roughness_of(source["ns"])
    sheen = clamped(source.get("ps", 1.0 if "map_ps" in source else 0.0))
    material.sheen_color, material.sheen_roughness = (sheen, sheen, sheen), _SHEEN_ROUGHNESS if sheen else 0.0
    material.clearcoat = clamped(source.get("pc", 1.0 if "map_pc" in source else 0.0))
    material.clearcoat_roughness = clamped(source.get("pcr", 1.0 if "map_pcr" in source else 0.0))
    material.anisotropy = clamped(source.get("aniso", 0.0))
    material.anisotropy_rotation = 2.0 * math.pi * source.get("anisor", 0.0)
    _scatter(material)
    slip = material.base_color[3] == 0.0 and not material.transmission and "map_d" not in source
    if slip:
        material.base_color = (*material.base_color[:3], 1.0)
        source["d"] = 1.0
        _scatter(material)
    return slip


def roughness_of(exponent: float) -> float:
    """glTF's roughness of a Blinn-Phong exponent n: the root of GGX's alpha, sqrt(2 / (n + 2))."""
    return clamped((2.0 / (max(exponent, 0.0) + 2.0)) ** 0.25)


def _scatter(material: Material) -> None:
    """Choose the material's kind, and derive fields from Ks, Ni, Tf and the opacity."""
    source = material.source
    model = int(source.get("illum", 2))
    ks = [clamped(value) for value in source.get("ks", [0.0, 0.0, 0.0])]
    exponent, ior, opacity = max(source.get("ns", 0.0), 0.0), source.get("ni", 0.0), material.base_color[3]
    material.ior = min(ior, LARGEST_IOR) if ior > 1.0 else 1.5
    physical, bumps = not _PHYSICAL.isdisjoint(source), not _BUMPS.isdisjoint(source)
    reflects = model in (3, 5, 8)
    if model in (4, 6, 7, 9) and (opacity < 1.0 or ior > 1.0 or any(source.get("tf", [0.0]))):
        tint = [clamped(value) for value in source.get("tf", [1.0, 1.0, 1.0])]
        if not any(tint):  # some programs write 0 for no filter
            tint = [1.0, 1.0, 1.0]
        material.base_color = (tint[0], tint[1], tint[2], opacity)
        material.transmission = material.thickness = 1.0
        if "pr" not in source:  # the exponent is for highlights of lights, not for glass
            material.roughness = 0.0
        material.kind = "principled" if physical or bumps else "dielectric"
        return
    holes = opacity < 1.0 or "map_d" in source
    material.alpha_mode = "blend" if holes else "opaque"
    special = holes or bumps
    if physical:
        special = True
    elif reflects and sum(ks) > sum(material.base_color[:3]):
        material.base_color = (ks[0], ks[1], ks[2], opacity)
        material.metallic, material.roughness = 1.0, 0.0
        material.kind = "mirror"
    elif model not in (0, 1) and any(ks) and (exponent > 0.0 or reflects):
        normal = ((material.ior - 1.0) / (material.ior + 1.0)) ** 2  # reflectance at normal incidence
        red, green, blue = (value / normal for value in ks)
        material.specular_color = (red, green, blue)
        if exponent == 0.0:
            material.roughness = 0.0
        special = True
    else:
        material.specular_factor = 0.0
    if special:
        material.kind = "principled"
