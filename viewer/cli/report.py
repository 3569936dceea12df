"""The reports of ``raystream info`` and ``raystream devices``: as plain data, and as text made from it."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from raystream.base.errors import DeviceError
from raystream.options.table import OPTIONS
from raystream.scene.edits.materials import decided_materials
from raystream.scene.edits.movable import Movable, movable_lights
from raystream.scene.quadric import Quadric

if TYPE_CHECKING:
    from raystream.scene.scene import Scene

LIMITS = {
    "max_texture_size": "texture",
    "max_buffer_texture_size": "buffer texture",
    "max_3d_texture_size": "3-D texture",
    "max_attachments": "attachments",
    "max_samplers": "samplers",
}
_UNMEASURED = {  # of software drivers or not: why auto means what it does
    False: "by default, until a picture at rest in the window, or a long render, has measured it, or --measure SCENE",
    True: "by default, as measured on software drivers; --measure SCENE measures it here",
}
ABILITIES = {
    "texture_barrier": "texture barrier",
    "early_fragment_tests": "early fragment tests",
    "compute": "compute shaders",
}


def describe(
    scene: Scene,
    program: str = OPTIONS["program"].value.default,
    max_texture: int | None = None,
    structure: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A scene as plain data: counts, bounds, materials, lights, environment, cameras, extensions, and the GPU memory of
    the scene and of a ray of that program.

    max_texture : longest side of textures, as the option has it. structure : options of the structure, by name.
    Where there is no OpenGL, ``gpu`` is None and a warning says why.
    """
    from raystream.renderer.inputs.lighting import scene_lighting
    from raystream.renderer.inputs.prepared import arranged
    from raystream.renderer.inputs.settings import Settings
    from raystream.renderer.renderer import Renderer

    scene = arranged(scene, Settings(max_texture=max_texture))
    lighting = scene_lighting(scene, Settings())
    used = sorted({instance.mesh for instance in scene.instances})
    data: dict[str, Any] = {
        "name": scene.name,
        "meshes": len(scene.meshes),
        "instances": len(scene.instances),
        "triangles": sum(len(mesh.triangles) for mesh in scene.meshes if not isinstance(mesh, Quadric)),
        "triangles_seen": scene.triangle_count - scene.quadric_count,
        "quadrics": scene.quadric_count,
        "vertices": sum(len(mesh.positions) for mesh in scene.meshes if not isinstance(mesh, Quadric)),
        "meshes_used": len(used),
        "bounds": scene.bounds() + np.array(scene.origin),
        "materials": [
            {
                "name": material.name,
                "base_color": material.base_color,
                "metallic": material.metallic,
                "roughness": material.roughness,
                "emission": material.emission,
                "kind": material.kind,
                "ior": material.ior if material.kind == "dielectric" else None,
                "dispersion": material.dispersion if material.kind == "dielectric" else None,
                "classic": asdict(material.classic) if material.kind == "classic" and material.classic else None,
                "texture": material.texture,
                "emission_texture": material.emission_texture,
            }
            for material in decided_materials(scene)
        ],
        "kinds": dict(Counter(material.kind for material in scene.materials)),
        "textures": [
            {
                "name": texture.name,
                "image": texture.image.name,
                "size": texture.image.size,
                "bytes": texture.image.texels.nbytes,
                "wrap": texture.wrap,
                "filter": "nearest" if texture.nearest else "linear",
                "minification": texture.minification,
                "type": str(texture.image.texels.dtype),
                "content": texture.content,
            }
            for texture in scene.textures
        ],
        "texture_bytes": sum({id(t.image): t.image.texels.nbytes for t in scene.textures}.values()),
        "lights": [_light(scene, light) for light in movable_lights(scene)],
        "lights_listed": lighting.listed.count,
        "environment": {
            "name": lighting.environment.name,
            "size": getattr(lighting.environment, "pixels", np.zeros((1, 1))).shape[1::-1],
            "flux": lighting.environment.flux,
        },
        "cameras": [
            {
                "name": camera.name,
                "camera": camera.text(),
                "fov": camera.fov,
                "aperture": camera.aperture,
                "focus": camera.focus_distance,
                **camera.facts,
            }
            for camera in scene.cameras or [scene.camera()]
        ],
        "animations": [
            {"name": animation.name, "seconds": animation.duration, "tracks": len(animation.tracks)}
            for animation in scene.animations
        ],
        "deforming": _deforming(scene),
        "variants": list(scene.variants),
        "extensions_used": scene.extensions_used,
        "extensions_ignored": scene.extensions_ignored,
        "warnings": [*scene.warnings, *lighting.notes],
        "program": program,
        "gpu": None,
    }
    try:
        data["gpu"] = Renderer(scene, program=program, **(structure or {})).info()
    except DeviceError as error:
        data["warnings"].append(f"nothing known of GPU memory: {error}")
    return json_value(data)


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    """The text lines of a scene's report. data : of `describe`."""
    yield data["name"]
    instanced = "" if data["triangles"] == data["triangles_seen"] else f", {data['triangles_seen']:,} with instances"
    low, high = data["bounds"]
    rows = [
        ("meshes", f"{data['meshes']:,}, {data['instances']:,} instances"),
        ("triangles", f"{data['triangles']:,}{instanced}"),
        *([("quadrics", f"{data['quadrics']:,}")] if data["quadrics"] else []),
        ("vertices", f"{data['vertices']:,}"),
        ("bounds", f"{_vector(low)} to {_vector(high)}"),
        *_list_rows(
            "materials",
            [f"{m['name']}: {_material(m)}" for m in data["materials"]],
            ", ".join(f"{count:,} {kind}" for kind, count in data["kinds"].items()),
        ),
        *_list_rows("textures", [_texture(t) for t in data["textures"]], size_text(data["texture_bytes"])),
        *_list_rows("lights", [_light_text(light) for light in data["lights"]]),
        ("environment", _environment(data["environment"])),
        *_list_rows("cameras", [_camera(camera) for camera in data["cameras"]]),
        *_list_rows("animations", [f"{a['name']}: {a['seconds']:g} s" for a in data["animations"]]),
        *([("deforming", _deforming_text(data["deforming"]))] if data["deforming"]["meshes"] else []),
        *([("variants", ", ".join(data["variants"]))] if data["variants"] else []),
        ("extensions", ", ".join(data["extensions_used"]) or "none"),
    ]
    if data["extensions_ignored"]:
        rows.append(("  ignored", ", ".join(data["extensions_ignored"])))
    for part, value in (data["gpu"] or {}).items():
        rows.extend(_nested_rows(part.replace("per ray", f"per ray, program {data['program']}"), value))
    rows.extend(("note", warning) for warning in data["warnings"])
    yield from _aligned(rows)


def device_lines(devices: list[Mapping[str, Any]]) -> Iterator[str]:
    """The text lines of the report of `raystream.stream.gl.device.devices`."""
    for device in devices:
        marks = [word for word in ("default", "software") if device.get(word)]
        index = "-" if device["index"] is None else device["index"]
        if "error" in device:
            yield f"{index}  not usable: {device['error']}"
            continue
        yield f"{index}  {device['renderer']}" + (f" ({', '.join(marks)})" if marks else "")
        rows = [
            ("vendor", device["vendor"]),
            ("OpenGL", device["version"]),
            ("GLSL", device["glsl"]),
            ("limits", ", ".join(f"{label} {device[key]:,}" for key, label in LIMITS.items())),
            ("has", ", ".join(label for key, label in ABILITIES.items() if device[key]) or "nothing beyond 3.3"),
            ("lacks", ", ".join(label for key, label in ABILITIES.items() if not device[key]) or "nothing"),
        ]
        if "auto" in device:
            choices = ", ".join(f"--{name} {word}" for name, word in device["auto"].items())
            rows.append(("auto", choices if device["measured"] else f"{choices} ({_UNMEASURED[device['software']]})"))
        if device.get("measured"):
            rows.append(("measured", _trials(device)))
        yield from _aligned(rows)


def _trials(device: Mapping[str, Any]) -> str:
    """The day of the trials, and their figures, or why there are none."""
    shares = (f"--{t['option']} {t['value']} {t['seconds'] / t['before']:.2f}" for t in device["trials"])
    figures = f"{', '.join(shares)} of the time before" if device["trials"] else ""
    skipped = [f"--{t['option']} {t['value']}".rstrip() + f" not tried: {t['reason']}" for t in device["skipped"]]
    return ": ".join(filter(None, (device["since"], "; ".join(filter(None, (figures, *skipped, device["note"]))))))


def json_value(value: Any) -> Any:
    """The value as JSON can hold it: arrays as lists, NumPy numbers as Python's, None for infinities and NaN."""
    match value:
        case Mapping():
            return {str(key): json_value(item) for key, item in value.items()}
        case np.ndarray():
            return json_value(value.tolist())
        case np.generic():
            return json_value(value.item())
        case list() | tuple() | set():
            return [json_value(item) for item in value]
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case os.PathLike():
            return os.fspath(value)
    return str(value)


def _aligned(rows: list[tuple[str, str]]) -> Iterator[str]:
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        yield f"   {label:{width}}  {value}".rstrip()


def _list_rows(label: str, entries: list[str], total: str = "", max_rows: int = 12) -> list[tuple[str, str]]:
    """Rows of a list: its length and a remark on all, then an entry each, the end left out of long ones."""
    remark = f": {total}" if entries and total else ""
    rows = [(label, f"{len(entries):,}{remark}")] + [("", entry) for entry in entries[:max_rows]]
    if len(entries) > max_rows:
        rows.append(("", f"and {len(entries) - max_rows:,} more (--json lists all)"))
    return rows


def _deforming(scene: Scene) -> dict[str, int]:
    """Counts of deforming meshes, of the skins and joints that they follow, and of their morph targets."""
    deformers = () if scene.hierarchy is None else scene.hierarchy.deformers
    skins = {id(deformer.skin): deformer.skin for deformer in deformers if deformer.skin is not None}
    return {
        "meshes": len(deformers),
        "skins": len(skins),
        "joints": sum(len(skin.joints) for skin in skins.values()),
        "morph_targets": sum(len(deformer.weights) for deformer in deformers),
    }


def _deforming_text(counts: Mapping[str, int]) -> str:
    one = {"meshes": "mesh", "skins": "skin", "joints": "joint", "morph_targets": "morph target"}
    words = {name: name.replace("_", " ") if counts[name] != 1 else one[name] for name in counts}
    return ", ".join(f"{count:,} {words[name]}" for name, count in counts.items() if count)


def _material(material: Mapping[str, Any]) -> str:
    text = f"{material['kind']}, base colour {_vector(material['base_color'][:3])}"
    if material["texture"] is not None:
        text += f" times texture {material['texture']}"
    text += f", metallic {material['metallic']:g}, roughness {material['roughness']:g}"
    if material["ior"] is not None:
        text += f", index of refraction {material['ior']:g}"
    if material["dispersion"]:
        text += f", dispersion {material['dispersion']:g} (Abbe number {20 / material['dispersion']:.3g})"
    if material["classic"] is not None:
        classic = material["classic"]
        text += f", reflectivity {classic['reflectivity']:g}, transmittance {classic['transmittance']:g}"
        text += f", indices {_vector(classic['indices'])}"
        text += f", thickness {classic['thickness']:g} ({classic['thickness_model']})" if classic["thickness"] else ""
    if any(material["emission"]):
        text += f", emission {_vector(material['emission'])}"
        if material["emission_texture"] is not None:
            text += f" times texture {material['emission_texture']}"
    return text


def _light(scene: Scene, light: Movable) -> dict[str, Any]:
    """A light as plain data; ``intensity`` in W/sr, of a directional one W/m^2, None of an emissive surface."""
    intensity = None if light.kind == "area" else scene.lights[light.item_index].intensity
    return {"name": light.name, "kind": light.kind, "position": light.position, "intensity": intensity}


def _light_text(light: Mapping[str, Any]) -> str:
    preposition = "towards" if light["kind"] == "directional" else "at"
    text = f"{light['name']}: {light['kind']}, {preposition} {_vector(light['position'])}"
    if light["intensity"] is not None:
        unit = "W/m^2" if light["kind"] == "directional" else "W/sr"
        text += f", {_vector(light['intensity'])} {unit}"
    return text


def _environment(environment: Mapping[str, Any]) -> str:
    width, height = environment["size"]
    text = environment["name"] + (f", {width:,} x {height:,}" if width * height > 1 else "")
    return text if environment["flux"] == 0 else f"{text}, {environment['flux']:.3g} W/m^2 from all around"


def _camera(camera: Mapping[str, Any]) -> str:
    text = camera.get("projection", f"{camera['fov']:g} degrees")
    if camera["aperture"]:
        text += f", lens of radius {camera['aperture']:g}, sharp at {camera['focus']:g}"
    elif "projection" not in camera:
        text += ", pinhole"
    return f"{camera['name']}: '{camera['camera']}', {text}"


def _texture(texture: Mapping[str, Any]) -> str:
    width, height = texture["size"]
    parts = [f"{width:,} x {height:,}", size_text(texture["bytes"]), " and ".join(dict.fromkeys(texture["wrap"]))]
    parts += [texture["filter"], *(["mip levels"] if "mipmap" in texture["minification"] else [])]
    parts += {"uint16": ["16 bits"], "float16": ["halfs"]}.get(texture["type"], [])
    return f"{texture['image']}: {', '.join(parts)}"


def _nested_rows(label: str, value: Any, in_bytes: bool = False) -> Iterator[tuple[str, str]]:
    """Rows of nested data; a number under a name with ``bytes`` or ``memory`` is shown in binary units."""
    in_bytes = in_bytes or any(word in label.lower() for word in ("bytes", "memory"))
    text = label.replace("_", " ")
    if isinstance(value, Mapping):
        yield text, ""
        for key, item in value.items():
            for inner_label, inner_text in _nested_rows(str(key), item, in_bytes):
                yield f"  {inner_label}", inner_text
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        yield text, _vector(value) if isinstance(value, list) else str(value)
    elif in_bytes and isinstance(value, int):
        yield text, size_text(value)
    else:
        yield text, f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def size_text(count: int) -> str:
    """Bytes in binary units: ``1.5 MiB``."""
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.0f} {units[0]}" if units[0] == "bytes" else f"{size:.1f} {units[0]}"


def _vector(values: Any) -> str:
    return f"({', '.join(f'{n:.4g}' if isinstance(n, float) else str(n) for n in values)})"
