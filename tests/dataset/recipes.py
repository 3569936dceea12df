"""Small recipes, and a model of marks at known places."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from raystream.dataset.recipe import DatasetRecipe, parse_recipe
from raystream.dataset.stage import DatasetStage

MARKS = np.array([[-1, -1, 0.5], [1, -1, -0.5], [0.2, 0.1, 0], [-1, 1, -0.5], [1, 1, 0.5]])  # around their box's middle
CORNERS = np.float32([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
FACES = np.uint16([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


def marks(folder: Path, radius: float = 0.04, size: float = 1.0, name: str = "marks.gltf") -> Path:
    """A glTF file of a double-sided octahedron at each of `MARKS`, in nodes "mark 0" and so on; the first two are of
    the semantic class "edge"."""
    points, faces = (CORNERS * radius * size).astype("<f4").tobytes(), FACES.astype("<u2").tobytes()
    nodes: list[dict[str, Any]] = [
        {
            "name": f"mark {k}",
            "mesh": 0,
            "translation": (place * size).tolist(),
            "extras": {"class": "edge"} if k < 2 else {},
        }
        for k, place in enumerate(MARKS)
    ]
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [*range(len(nodes))]}],
        "nodes": nodes,
        "materials": [{"doubleSided": True, "pbrMetallicRoughness": {"baseColorFactor": [0.9, 0.2, 0.1, 1]}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(CORNERS), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": FACES.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(faces)},
        ],
        "buffers": [
            {
                "byteLength": len(points) + len(faces),
                "uri": "data:application/octet-stream;base64," + base64.b64encode(points + faces).decode(),
            }
        ],
    }
    path = folder / name
    path.write_text(json.dumps(document))
    return path


def cube(folder: Path, side: float = 1.0, name: str = "cube.obj") -> Path:
    """An OBJ file of a cube from the origin on."""
    corners = [f"v {x * side} {y * side} {z * side}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
    path = folder / name
    path.write_text("".join(corners) + "".join(f"f {face}\n" for face in faces))
    return path


def recipe(folder: Path, **given: Any) -> DatasetRecipe:
    """A recipe of small pictures of few samples, with other values by their keys."""
    own: dict[str, Any] = {
        "size": [40, 30],
        "cameras": {"distance": [2.0, 3.0]},
        "models": [{"file": "cube.obj", "size": 0.5}],
        "render": {"spp": 1, "denoise": "none", "machine": "singlepass"},
        "environment": {"choices": [[1, 1, 1]]},
    }
    return parse_recipe({**own, **given}, "r.toml", str(folder))


def stage(folder: Path, **given: Any) -> DatasetStage:
    """Of such a recipe."""
    return DatasetStage(recipe(folder, **given))
