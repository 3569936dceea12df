"""What glTF 2.0 says of animated, morphed and skinned vertices, read from a file's bytes and computed vertex by vertex
in Python's own floats: shares no code with the reader."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

SIZES = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
LARGEST = {5120: 127, 5121: 255, 5122: 32767, 5123: 65535}
Matrix = list[list[float]]


class Oracle:
    """A .glb file at times of one of its animations."""

    def __init__(self, path: Path, animation: int = 0) -> None:
        data = path.read_bytes()
        (length,) = struct.unpack_from("<I", data, 12)
        self.json = json.loads(data[20 : 20 + length])
        self.binary = data[28 + length :]
        animations = self.json.get("animations", [])
        self.animation = animations[animation] if animations else {"channels": [], "samplers": []}
        self._rows: dict[int, list[list[float]]] = {}
        self._states: dict[float, list[dict[str, Any]]] = {}
        self.parent = {child: k for k, node in enumerate(self.json["nodes"]) for child in node.get("children", [])}

    def rows(self, number: int) -> list[list[float]]:
        """An accessor's elements; normalised ones as fractions; without sparse ones."""
        if number not in self._rows:
            self._rows[number] = self._read(number)
        return self._rows[number]

    def _read(self, number: int) -> list[list[float]]:
        about = self.json["accessors"][number]
        view = self.json["bufferViews"][about["bufferView"]]
        code, width = SIZES[about["componentType"]], WIDTHS[about["type"]]
        size = struct.calcsize(code) * width
        start = view.get("byteOffset", 0) + about.get("byteOffset", 0)
        step = view.get("byteStride", size)
        found = [
            list(struct.unpack_from(f"<{width}{code}", self.binary, start + k * step)) for k in range(about["count"])
        ]
        if about.get("normalized"):
            most = LARGEST[about["componentType"]]
            found = [[max(value / most, -1.0) for value in row] for row in found]
        return found

    def state(self, seconds: float) -> list[dict[str, Any]]:
        """Translation, rotation, scale and weights of every node."""
        if seconds in self._states:
            return self._states[seconds]
        state = self._states[seconds] = [dict(node) for node in self.json["nodes"]]
        for channel in self.animation["channels"]:
            target = channel["target"]
            sampler = self.animation["samplers"][channel["sampler"]]
            state[target["node"]][target["path"]] = self.sample(sampler, target["path"], seconds)
        return state

    def sample(self, sampler: dict[str, Any], path: str, seconds: float) -> list[float]:
        """A sampler's value."""
        times = [row[0] for row in self.rows(sampler["input"])]
        values = self.rows(sampler["output"])
        kind = sampler.get("interpolation", "LINEAR")
        groups = len(times) * (3 if kind == "CUBICSPLINE" else 1)
        flat = [value for row in values for value in row]
        width = len(flat) // groups
        rows = [flat[k * width : (k + 1) * width] for k in range(groups)]
        three = kind == "CUBICSPLINE"
        value = [rows[3 * k + 1] for k in range(len(times))] if three else rows
        if seconds <= times[0]:
            found = value[0]
        elif seconds >= times[-1]:
            found = value[-1]
        else:
            k = max(k for k in range(len(times)) if times[k] <= seconds)
            span = times[k + 1] - times[k]
            t = (seconds - times[k]) / span
            a, b = value[k], value[k + 1]
            if kind == "STEP":
                found = a
            elif three:
                out, into = rows[3 * k + 2], rows[3 * (k + 1)]
                found = [
                    (2 * t**3 - 3 * t**2 + 1) * a[c]
                    + span * (t**3 - 2 * t**2 + t) * out[c]
                    + (3 * t**2 - 2 * t**3) * b[c]
                    + span * (t**3 - t**2) * into[c]
                    for c in range(width)
                ]
            elif path == "rotation":
                found = slerp(a, b, t)
            else:
                found = [(1 - t) * x + t * y for x, y in zip(a, b, strict=True)]
        if path == "rotation":
            length = math.sqrt(sum(value * value for value in found))
            found = [value / length for value in found]
        return found

    def world(self, state: list[dict[str, Any]], node: int) -> Matrix:
        """A node's transform to the world."""
        own = local(state[node])
        return product(self.world(state, self.parent[node]), own) if node in self.parent else own

    def positions(self, node: int, primitive: int, seconds: float, step: int = 1) -> list[list[float]]:
        """Every ``step``-th vertex of a primitive on a node, in the world."""
        return [point for point, _ in self.vertices(node, primitive, seconds, step)]

    def vertices(
        self, node: int, primitive: int, seconds: float, step: int = 1
    ) -> list[tuple[list[float], list[float] | None]]:
        """Positions and unit normals of every ``step``-th vertex, in the world; None without normals."""
        state = self.state(seconds)
        about = self.json["nodes"][node]
        mesh = self.json["meshes"][about["mesh"]]
        part = mesh["primitives"][primitive]
        points = self.rows(part["attributes"]["POSITION"])
        targets = [self.rows(each["POSITION"]) for each in part.get("targets", [])]
        normals = self.rows(part["attributes"]["NORMAL"]) if "NORMAL" in part["attributes"] else None
        leans = [self.rows(each["NORMAL"]) if "NORMAL" in each else None for each in part.get("targets", [])]
        weights = state[node].get("weights", mesh.get("weights", [0.0] * len(targets)))
        skin, bones, shares, joints = None, [], [], []
        if "skin" in about:
            skin = self.json["skins"][about["skin"]]
            inverse = self.rows(skin["inverseBindMatrices"])
            for number, joint in enumerate(skin["joints"]):
                bind = [[inverse[number][4 * column + row] for column in range(4)] for row in range(4)]
                joints.append(product(self.world(state, joint), bind))
            sets = sum(key.startswith("JOINTS_") for key in part["attributes"])
            bones = [self.rows(part["attributes"][f"JOINTS_{k}"]) for k in range(sets)]
            shares = [self.rows(part["attributes"][f"WEIGHTS_{k}"]) for k in range(sets)]
        placed = self.world(state, node)
        found = []
        for k in range(0, len(points), step):
            point = list(points[k])
            for target, weight in zip(targets, weights, strict=True):
                point = [value + weight * moved for value, moved in zip(point, target[k], strict=True)]
            normal = None if normals is None else list(normals[k])
            for lean, weight in zip(leans, weights, strict=True):
                if normal is not None and lean is not None:
                    normal = [value + weight * moved for value, moved in zip(normal, lean[k], strict=True)]
            matrix = placed
            if skin is not None:
                total, matrix = 0.0, [[0.0] * 4 for _ in range(4)]
                for numbers, parts in zip(bones, shares, strict=True):
                    for joint, weight in zip(numbers[k], parts[k], strict=True):
                        total += weight
                        for row in range(4):
                            for column in range(4):
                                matrix[row][column] += weight * joints[int(joint)][row][column]
                matrix = [[value / total for value in row] for row in matrix]
            found.append((applied(matrix, point), None if normal is None else turned(matrix, normal)))
        return found


def slerp(a: list[float], b: list[float], t: float) -> list[float]:
    """glTF 2.0, C.4."""
    length = [math.sqrt(sum(value * value for value in each)) for each in (a, b)]
    a, b = ([value / size for value in each] for each, size in zip((a, b), length, strict=True))
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    sign = -1.0 if dot < 0 else 1.0
    angle = math.acos(min(abs(dot), 1.0))
    if angle < 1e-6:
        return [(1 - t) * x + t * sign * y for x, y in zip(a, b, strict=True)]
    first, second = math.sin((1 - t) * angle) / math.sin(angle), sign * math.sin(t * angle) / math.sin(angle)
    return [first * x + second * y for x, y in zip(a, b, strict=True)]


def local(node: dict[str, Any]) -> Matrix:
    """A node's transform to its parent's space."""
    if "matrix" in node:
        return [[node["matrix"][4 * column + row] for column in range(4)] for row in range(4)]
    quaternion = node.get("rotation", (0.0, 0.0, 0.0, 1.0))  # a unit one, but for a file's rounding
    x, y, z, w = (value / math.sqrt(sum(each * each for each in quaternion)) for value in quaternion)
    s, t = node.get("scale", (1.0, 1.0, 1.0)), node.get("translation", (0.0, 0.0, 0.0))
    turn = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    rows = [[turn[row][column] * s[column] for column in range(3)] + [t[row]] for row in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def product(a: Matrix, b: Matrix) -> Matrix:
    """a b."""
    return [[sum(a[row][k] * b[k][column] for k in range(4)) for column in range(4)] for row in range(4)]


def turned(matrix: Matrix, normal: list[float]) -> list[float]:
    """A unit normal by the inverse transpose of an affine map's linear part."""
    x, y, z = (row[:3] for row in matrix[:3])
    rows = [cross(y, z), cross(z, x), cross(x, y)]
    sign = math.copysign(1.0, sum(a * b for a, b in zip(x, rows[0], strict=True)))
    found = [sign * sum(a * b for a, b in zip(row, normal, strict=True)) for row in rows]
    length = math.sqrt(sum(value * value for value in found))
    return [value / length for value in found]


def cross(a: list[float], b: list[float]) -> list[float]:
    """The vector product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def applied(matrix: Matrix, point: list[float]) -> list[float]:
    """A point by an affine map."""
    return [sum(matrix[row][k] * point[k] for k in range(3)) + matrix[row][3] for row in range(3)]
