"""Small valid files of every format that is read, and messages of a page: what the fuzzer mutates."""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "formats"))

from compressed import BLOCKS, ETC1S, draco, ktx2, meshopt
from documents import MTL, SQUARE, TWO, Document, samples
from exr_bytes import exr_bytes
from levels import level, level_lumps
from looks import full, textured
from rigs import chain, morphed, simple_skin

from fuzzing.messages import messages, read_message
from raystream.film.files import checkpoint, image
from raystream.film.film import Film
from raystream.formats import bsp, load
from raystream.formats.gltf import decoders
from raystream.formats.gltf.decoders import installed
from raystream.formats.image import environment_maps, images
from raystream.formats.image.images import ImageMemory
from raystream.remote.serve import NEEDED

SIZE = (5, 4)  # of pictures
TEXTURES = (".png", ".jpg", ".webp")  # of names of pictures that textures are read from
_PBR = b"""newmtl blue
Kd 0 0 1
Ks .1 .2 .3
Ni 1.4
Pr .5
Pm .5
Ps .2
Pc 1
Pcr .1
aniso .5
anisor .25
map_Pr red.png
map_Pm -s 2 2 red.png
map_d red.png
map_bump -bm 2 red.png
map_Ke red.png
Ke 1 1 1
"""
SETTINGS = {"program": "path", "depth": 5, "seed": 7}  # of states


class Seed(NamedTuple):
    """A file's name and bytes, what reads it, and files that lie beside it; ``aside`` is the one to mutate too."""

    name: str
    data: bytes
    read: Callable[[Path], Any]
    beside: dict[str, bytes] = {}  # noqa: RUF012  # never written to
    aside: str = ""


def read_scene(path: Path) -> None:
    """Loaded, flattened and posed in the middle of its motion."""
    scene = load(path)
    scene.flatten()
    if scene.animations:
        scene.posed(scene.duration / 2).flatten()


def read_state(path: Path) -> None:
    """The film of a state."""
    checkpoint.resume(path, SIZE, SETTINGS)


def read_environment(path: Path) -> None:
    """The picture of an environment."""
    environment_maps.load(path)


def read_texture(path: Path) -> None:
    """The texels of a texture."""
    images.read_image(ImageMemory(64), path.read_bytes(), path.name)


def read_basis(path: Path) -> None:
    """The texels of a compressed texture, whole and of its smallest level."""
    data = path.read_bytes()
    found = decoders.basis_header(data, path.name)
    for side in (None, 1):
        decoders.decode_basis(data, path.name, factor=ImageMemory(side).plan(found, len(data), path.name))
    decoders.decode_basis(data, path.name, factor=found.least)


def seeds() -> list[Seed]:
    """All of them."""
    pictures = _pictures()
    found = [Seed(name, data, read_scene) for name, data in samples().items() if name != "square.obj"]
    beside = {"colors.mtl": MTL + _PBR, "red.png": pictures["small.png"]}
    found.append(Seed("square.obj", samples()["square.obj"], read_scene, beside))
    found.append(Seed("square.obj", samples()["square.obj"], read_scene, beside, "colors.mtl"))
    textures = {"stone.webp": pictures["lossy.webp"], "curve.png": pictures["small.png"]}
    found.append(Seed("level.bsp", level(), read_scene))
    found.append(Seed("levels.bsp", _crowded_level(), read_scene, textures))
    rich = _rich(pictures["small.png"])
    found += [Seed("rich.gltf", rich.gltf(), read_scene), Seed("rich.glb", rich.glb(), read_scene)]
    found += [Seed(name, data, read_scene) for name, data in _extended().items()]
    found += [Seed(name, data, read_environment) for name, data in pictures.items() if not name.endswith(".webp")]
    found += [Seed(name, data, read_texture) for name, data in pictures.items() if name.endswith(TEXTURES)]
    if installed("opengl_basisu"):
        levels = ktx2(BLOCKS, BLOCKS[:1, :2], BLOCKS[:1, :1], size=(11, 7))
        found += [Seed("uastc.ktx2", levels, read_basis), Seed("etc1s.ktx2", ETC1S, read_basis)]
    found.append(Seed("state.exr", _state(), read_state))
    if all(map(find_spec, NEEDED)):
        found += [Seed(name, data, read_message) for name, data in messages().items()]
    return found


def _extended() -> dict[str, bytes]:
    """glTF with every material extension, and compressed glTF for the decoders that are installed."""
    every = full()
    mesh = every.json["meshes"][0]["primitives"][0]
    mesh["extensions"] = {"KHR_materials_variants": {"mappings": [{"variants": [0], "material": 0}]}}
    every.json["extensions"] = {"KHR_materials_variants": {"variants": [{"name": "one"}]}}
    every.json["nodes"][0]["extensions"] = {"KHR_node_visibility": {"visible": True}}
    mesh["attributes"]["NORMAL"] = every.accessor(np.tile(np.float32([0, 0, 1]), (4, 1)))
    mesh["attributes"]["TANGENT"] = every.accessor(np.tile(np.float32([1, 0, 0, 1]), (4, 1)))
    found = {"looks.gltf": every.gltf(), "looks.glb": every.glb()}
    found |= {"skin.gltf": simple_skin().gltf(), "joints.glb": chain(5, 1, sets=2, parts=2).glb()}
    found |= {"morphs.gltf": morphed(skinned=True).gltf(), "morphs.glb": _pointed().glb()}
    if installed("DracoPy"):
        found |= {"edgebreaker.glb": draco(False).glb(), "sequential.glb": draco().glb(), "draco.gltf": draco().gltf()}
    if installed("meshopt"):
        found |= {"meshopt.glb": meshopt().glb(), "meshopt.gltf": meshopt().gltf()}
    if installed("opengl_basisu"):
        basis = textured()
        basis.json["images"] = [{"bufferView": basis.view(ktx2(BLOCKS))}]
        basis.json["textures"] = [{"extensions": {"KHR_texture_basisu": {"source": 0}}}]
        found["basis.glb"] = basis.glb()
    glossy = textured()
    gloss = {"specularFactor": [0.5, 0.4, 0.3], "specularGlossinessTexture": {"index": 0, "texCoord": 1}}
    glossy.json["materials"][0]["extensions"] = {"KHR_materials_pbrSpecularGlossiness": gloss}
    return {**found, "glossy.gltf": glossy.gltf()}


def _pointed() -> Document:
    """Weights by a spline, and a property of every kind by a pointer."""
    doc = morphed(interpolation="CUBICSPLINE", targets=2)
    doc.json["materials"] = [{"pbrMetallicRoughness": {}}]
    doc.json["nodes"][0]["extensions"] = {"KHR_node_visibility": {"visible": False}}
    animation = doc.json["animations"][0]
    for pointer, values in (
        ("/materials/0/pbrMetallicRoughness/baseColorFactor", np.float32([[0, 0, 0, 1], [1, 1, 1, 1]])),
        ("/materials/0/alphaCutoff", np.float32([0, 1])),
        ("/nodes/0/extensions/KHR_node_visibility/visible", np.uint8([1, 0])),
        ("/nodes/0/translation", np.float32([[0, 0, 0], [1, 1, 1]])),
    ):
        target = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
        animation["channels"].append({"sampler": len(animation["samplers"]), "target": target})
        times = doc.accessor(np.float32([0, 1]))
        animation["samplers"].append({"input": times, "output": doc.accessor(values), "interpolation": "STEP"})
    return doc


def _crowded_level() -> bytes:
    """A level whose faces share vertices, with patches of two sizes, and a model that is placed twice."""
    lumps = level_lumps()
    faces = np.frombuffer(lumps["faces"], bsp.FACE)[[0, 1, 1, 3, 0, 3]].copy()
    faces["vertices"][2], faces["net"][2] = 15, (5, 3)
    faces["vertex"][2] = 0
    models = np.zeros(2, bsp.MODEL)
    models["face"], models["faces"] = (0, 4), (5, 2)
    textures = np.frombuffer(lumps["textures"], bsp.TEXTURE).copy()
    textures["name"][0] = b"stone"
    entities = lumps["entities"].split(b"\0", 1)[0] + b'{ "model" "*1" "origin" "9 9 9" "angles" "1 2 3" }'
    more = {"faces": faces, "models": models, "textures": textures}
    return bsp.join_lumps(lumps | {"entities": entities} | {name: each.tobytes() for name, each in more.items()})


def _rich(png: bytes) -> Document:
    """glTF with all that the reader knows: textures, lights, cameras, motion, instances, sparse accessors."""
    doc = Document()
    places = doc.accessor(SQUARE)
    doc.json["accessors"][places]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": doc.view(b"\1"), "componentType": 5121},
        "values": {"bufferView": doc.view(np.float32([2, 0, 0]).tobytes())},
    }
    doc.mesh({"POSITION": places, "TEXCOORD_0": doc.accessor(SQUARE[:, :2])}, doc.accessor(TWO), material=0)
    doc.mesh({"POSITION": doc.accessor(SQUARE)}, mode=5)
    times = doc.accessor(np.float32([0, 1]))
    turns = doc.accessor(np.float32([[0, 0, 0, 1], [0, 1, 0, 0]]))
    moves = doc.accessor(np.float32([[k, 0, 0] for k in range(6)]))
    targets = {"node": 0, "path": "rotation"}, {"node": 2, "path": "translation"}
    channels = [{"sampler": number, "target": target} for number, target in enumerate(targets)]
    samplers = [{"input": times, "output": turns}]
    samplers.append({"input": times, "output": moves, "interpolation": "CUBICSPLINE"})
    color = {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 2]}}}
    uri = "data:image/png;base64," + base64.b64encode(png).decode()
    doc.json |= {
        "scenes": [{"nodes": [0, 2, 3]}],
        "nodes": [
            {"mesh": 0, "rotation": [0, 0.6, 0, 0.8], "children": [1]},
            {"mesh": 1, "translation": [0, 0, 5], "camera": 0},
            {"extensions": {"KHR_lights_punctual": {"light": 0}}},
            {"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": moves}}}},
        ],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}],
        "extensionsUsed": ["KHR_lights_punctual", "EXT_mesh_gpu_instancing", "KHR_texture_transform"],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "spot", "intensity": 3, "spot": {}}]}},
        "images": [{"uri": uri}, {"bufferView": doc.view(png), "mimeType": "image/png"}],
        "samplers": [{"wrapS": 33071, "magFilter": 9728}],
        "textures": [{"source": 0, "sampler": 0}, {"source": 1}],
        "materials": [
            {
                "pbrMetallicRoughness": {"baseColorTexture": color},
                "emissiveFactor": [1, 1, 1],
                "emissiveTexture": {"index": 1},
                "extensions": {"KHR_materials_ior": {"ior": 1.4}, "KHR_materials_transmission": {}},
            }
        ],
        "animations": [{"channels": channels, "samplers": samplers}],
    }
    return doc


def _pictures() -> dict[str, bytes]:
    """Pictures of every kind by name."""
    import OpenEXR
    from PIL import Image

    rng = np.random.default_rng(0)
    linear = rng.random((SIZE[1], SIZE[0], 3)).astype(np.float32)
    bytes_ = (linear * 255).astype(np.uint8)
    found: dict[str, bytes] = {}
    small = Image.fromarray(bytes_)
    grey = Image.fromarray((linear[..., 0] * 65535).astype(np.uint16))
    pictures = {"small.png": small, "grey.png": grey, "palette.png": small.quantize(4), "small.jpg": small}
    for name, picture in {**pictures, "lossy.webp": small, "lossless.webp": small.convert("RGBA")}.items():
        stream = io.BytesIO()
        form = {"jpg": "JPEG", "webp": "WEBP"}.get(name.split(".")[1], "PNG")
        picture.save(stream, format=form, **({"lossless": True} if name == "lossless.webp" else {}))
        found[name] = stream.getvalue()
    head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n\n"
    pixels = rng.integers(0, 200, (4, 5, 4), np.uint8)
    old = b"".join(row[:3].tobytes() + b"\1\1\1\2" for row in pixels)
    run = b"\2\2\0\x0a" + b"".join(b"\x85" + bytes([k]) + b"\5abcde" for k in range(4))
    found["old.hdr"] = head + b"-Y 4 +X 5\n" + old
    found["new.hdr"] = head + b"-Y 2 +X 10\n" + run * 2
    found["xyze.hdr"] = b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\nPRIMARIES= .7 .3 .2 .7 .1 .1 .3 .3\n\n-Y 4 +X 5\n" + old
    chroma = {"RY": (linear[:2, :2, 0], 2), "BY": (linear[:2, :2, 1], 2), "Y": linear[:4, :4, 2]}
    found["chroma.exr"] = exr_bytes(chroma, (-1, 1, 5, 4), (0, 0), (0.7, 0.3, 0.2, 0.7, 0.1, 0.1, 0.3, 0.3))
    layer = {f"View.Combined.{name}": linear[..., k] for k, name in enumerate("rgb")}
    found["layer.exr"] = exr_bytes({**layer, "View.Depth.Z": linear[..., 0]}, corner=(-2, 3), display=(-3, 3, 4, 8))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "a.exr")
        for name in ("NO", "RLE", "ZIPS", "ZIP", "PIZ", "PXR24", "B44", "DWAA"):
            header = {"compression": getattr(OpenEXR, f"{name}_COMPRESSION"), "type": OpenEXR.scanlineimage}
            with OpenEXR.File(header, {"RGB": linear}) as file:
                file.write(path)
            found[f"{name.lower()}.exr"] = Path(path).read_bytes()
        header = {"type": OpenEXR.tiledimage, "tiles": OpenEXR.TileDescription()}
        header["compression"] = OpenEXR.ZIP_COMPRESSION
        with OpenEXR.File(header, {"RGB": linear.astype(np.float16)}) as file:
            file.write(path)
        found["tiles.exr"] = Path(path).read_bytes()
        parts = [OpenEXR.Part({"name": name, "type": OpenEXR.scanlineimage}, {"RGB": linear}) for name in "ab"]
        with OpenEXR.File(parts) as file:
            file.write(path)
        found["parts.exr"] = Path(path).read_bytes()
    return found


def _state() -> bytes:
    """A state with a film of two samples, and a layer."""
    film, rng = Film(*SIZE), np.random.default_rng(1)
    for _ in range(2):
        film.add(rng.random((SIZE[1], SIZE[0], 3)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.exr"
        layers = {"depth": np.ones(SIZE[::-1], np.float32), **checkpoint.film_layers(film)}
        image.save(path, film.mean(), layers, {"camera": "front", **checkpoint.film_metadata(film, SETTINGS)})
        return path.read_bytes()
