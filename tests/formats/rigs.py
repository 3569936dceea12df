"""Small files with joints and morph targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from documents import Document


def unit(values: np.ndarray) -> np.ndarray:
    """Rows of length 1, float32."""
    return (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype(np.float32)


def columns(matrices: np.ndarray) -> np.ndarray:
    """(N, 16) float32, as in a file, of (N, 4, 4)."""
    return np.asarray(matrices, np.float32).transpose(0, 2, 1).reshape(-1, 16)


def strip(doc: Document, joints: np.ndarray, weights: np.ndarray, **more: Any) -> dict[str, int]:
    """Attributes of a strip of two vertices for each row of joints and weights (N, 4 K), up along +Y."""
    count = len(joints)
    points = np.zeros((2 * count, 3), np.float32)
    points[:, 0], points[:, 1] = np.tile([-0.5, 0.5], count), np.repeat(np.linspace(0, 2, count), 2)
    attributes = {"POSITION": doc.accessor(points), "NORMAL": doc.accessor(np.float32([[0, 0, 1]] * 2 * count))}
    for number in range(joints.shape[1] // 4):
        part = slice(4 * number, 4 * number + 4)
        attributes[f"JOINTS_{number}"] = doc.accessor(np.repeat(joints[:, part], 2, axis=0))
        normalized = {} if weights.dtype.kind == "f" else {"normalized": True}
        attributes[f"WEIGHTS_{number}"] = doc.accessor(np.repeat(weights[:, part], 2, axis=0), **normalized)
    return {**attributes, **more}


def corners(count: int) -> np.ndarray:
    """Triangles of a strip of ``count`` rows."""
    rows = 2 * np.arange(count - 1)[:, None]
    return (rows + [0, 1, 3, 0, 3, 2]).astype(np.uint16).ravel()


def simple_skin(**more: Any) -> Document:
    """As Khronos's SimpleSkin: two joints, the upper of which turns; the node of the mesh stands elsewhere, which does
    not count."""
    doc = Document()
    share = np.linspace(0, 1, 5, dtype=np.float32)
    weights = np.zeros((5, 4), np.float32)
    weights[:, 0], weights[:, 1] = 1 - share, share
    doc.mesh(strip(doc, np.uint8([[0, 1, 0, 0]] * 5), weights), doc.accessor(corners(5)), **more)
    inverse = np.tile(np.eye(4), (2, 1, 1))
    inverse[1, 1, 3] = -1.0
    doc.json["nodes"] = [
        {"mesh": 0, "skin": 0, "translation": [7, 7, 7], "name": "bar"},
        {"children": [2], "name": "lower"},
        {"translation": [0, 1, 0], "name": "upper"},
    ]
    doc.json["scenes"] = [{"nodes": [0, 1]}]
    doc.json["skins"] = [{"joints": [1, 2], "inverseBindMatrices": doc.accessor(columns(inverse)), "skeleton": 1}]
    turns = np.float32([[0, 0, 0, 1], [0, 0, 0.7071, 0.7071], [0, 0, 0, 1], [0, 0, -0.7071, 0.7071]])
    animate(doc, {(2, "rotation"): (np.float32([0, 1, 2, 3]), turns, "LINEAR")})
    return doc


def animate(doc: Document, moved: dict[tuple[int, str], tuple[np.ndarray, np.ndarray, str]]) -> None:
    """Move properties in the document's first animation: times, values and interpolation by node and path."""
    animation = doc.json.setdefault("animations", [{"samplers": [], "channels": []}])[0]
    for (node, path), (times, values, interpolation) in moved.items():
        animation["channels"].append({"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}})
        animation["samplers"].append(
            {"input": doc.accessor(times), "output": doc.accessor(values), "interpolation": interpolation}
        )


def chain(joints: int, seed: int, sets: int = 1, parts: int = 1) -> Document:
    """A body as Fox (one primitive) or BrainStem (many): a tree of joints with transforms of all kinds below a turned
    node, four influences for each set, tracks of every path and interpolation."""
    rng = np.random.default_rng(seed)
    doc, rows = Document(), 40
    attributes = []
    for part in range(parts):
        numbers = rng.integers(0, joints, (rows, 4 * sets)).astype(np.uint8 if part % 2 else np.uint16)
        weights = rng.random((rows, 4 * sets)) ** 3
        weights /= weights.sum(axis=1, keepdims=True)
        stored = weights.astype(np.float32) if part % 3 else np.round(weights * 65535).astype(np.uint16)
        attributes.append(strip(doc, numbers, stored))
    doc.mesh(attributes[0], doc.accessor(corners(rows)))
    triangles = doc.json["meshes"][0]["primitives"][0]["indices"]
    doc.json["meshes"][0]["primitives"] = [{"attributes": each, "indices": triangles} for each in attributes]
    inverse = np.tile(np.eye(4), (joints, 1, 1))
    inverse[:, :3] += rng.normal(size=(joints, 3, 4)) / 4
    inverse = columns(inverse).reshape(-1, 4, 4).transpose(0, 2, 1)
    nodes: list[dict[str, Any]] = [
        {"mesh": 0, "skin": 0, "scale": [3, 3, 3]},
        {"rotation": [0.5, 0.5, 0.5, 0.5], "scale": [1, 2, 1], "children": [2]},
    ]
    for number in range(joints):
        below = [2 + k for k in range(joints) if k and (k - 1) // 2 == number]
        node = {"translation": rng.normal(size=3).tolist(), "rotation": unit(rng.normal(size=4)).tolist()}
        nodes.append({**node, "children": below} if below else node)
    doc.json["nodes"] = nodes
    doc.json["scenes"] = [{"nodes": [0, 1]}]
    doc.json["skins"] = [{"joints": [*range(2, 2 + joints)], "inverseBindMatrices": doc.accessor(columns(inverse))}]
    moved = {}
    for number in range(joints):
        for path, width in (("translation", 3), ("rotation", 4), ("scale", 3)):
            kind = ("LINEAR", "STEP", "CUBICSPLINE")[int(rng.integers(3))]
            keys = int(rng.integers(2, 6))
            times = np.sort(rng.random(keys)).astype(np.float32) * 3
            values = rng.normal(size=(keys * (3 if kind == "CUBICSPLINE" else 1), width))
            values = values if path != "scale" else 1 + values / 8
            turned = path == "rotation" and kind != "CUBICSPLINE"
            moved[2 + number, path] = times, unit(values) if turned else values.astype(np.float32), kind
    animate(doc, moved)
    return doc


def morphed(skinned: bool = False, interpolation: str = "LINEAR", keys: int = 4, targets: int = 3) -> Document:
    """A bar with morph targets and weights that move, of which the last target has no positions; with joints, too."""
    rng = np.random.default_rng(5)
    doc = simple_skin() if skinned else Document()
    if not skinned:
        attributes = strip(doc, np.uint8([[0, 0, 0, 0]] * 5), np.float32([[1, 0, 0, 0]] * 5))
        doc.mesh(attributes, doc.accessor(corners(5)))
        doc.json["nodes"] = [{"mesh": 0, "translation": [0, 0, 2]}]
    primitive = doc.json["meshes"][0]["primitives"][0]
    primitive["targets"] = [
        {
            "POSITION": doc.accessor(rng.normal(size=(10, 3)).astype(np.float32)),
            "NORMAL": doc.accessor(rng.normal(size=(10, 3)).astype(np.float32)),
        }
        for _ in range(targets)
    ]
    doc.json["meshes"][0]["weights"] = [0.25] * targets
    three = 3 if interpolation == "CUBICSPLINE" else 1
    times, values = np.arange(keys, dtype=np.float32), rng.random(keys * three * targets).astype(np.float32)
    animate(doc, {(0, "weights"): (times, values, interpolation)})
    return doc
