"""Makes ``assets/levels/chapel.bsp``: a small level of our own in the format of Quake III (BSP version 46), free to
ship: a vaulted hall with arches, aisles, columns and stairs, its textures, and lightmaps that are traced here.

    python tools/quake_level.py [FOLDER]
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

import viewer
from viewer.formats.bsp import lumps as bsp
from viewer.formats.bsp.patches import STEPS, tessellated, weights
from viewer.scene.mesh import Mesh
from viewer.scene.scene import Instance, Scene

Array = NDArray[np.float64]
TEXEL, LUXEL = 128.0, 12.0  # units a picture spans; units between luxels
AMBIENT, RAYS = np.array([60.0, 62.0, 74.0]), 48  # of 255; rays that look for it
NAMES = ("stone", "floor", "vault", "wood", "lamp", "trim")
STONE, FLOOR, VAULT, WOOD, LAMP, TRIM = range(len(NAMES))
LIGHTS = (
    *(((x, 0.0, 330.0), 330.0, (1.0, 0.80, 0.52)) for x in (-240.0, 0.0, 240.0)),
    *(((x, s * 368.0, 150.0), 110.0, (1.0, 0.62, 0.30)) for x in (-256.0, 0.0, 256.0) for s in (-1, 1)),
    ((352.0, 0.0, 260.0), 260.0, (0.50, 0.66, 1.0)),
)


class Level:
    """Faces as they are added, and the lumps that they make."""

    def __init__(self) -> None:
        self.vertices: list[NDArray] = []
        self.corners: list[int] = []
        self.faces: list[dict] = []
        self.count = 0

    def add(self, kind: int, texture: int, points: Array, uv: Array, normals: Array, **more: object) -> None:
        """A face: points and normals (..., 3) and coordinates of the picture (..., 2)."""
        flat = np.zeros(points.size // 3, bsp.VERTEX)
        flat["position"], flat["normal"], flat["uv"] = points.reshape(-1, 3), normals.reshape(-1, 3), uv.reshape(-1, 2)
        flat["color"] = 255
        corners = more.pop("corners", [])
        self.faces.append(
            {"kind": kind, "texture": texture, "vertex": self.count, "points": points, "first": len(self.corners)}
            | {"corners": corners, "number": len(flat)}
            | more
        )
        self.corners += list(corners)  # type: ignore[call-overload]
        self.vertices.append(flat)
        self.count += len(flat)

    def quad(self, texture: int, corners: ArrayLike, scale: float = TEXEL) -> None:
        """A flat face of four corners, counter-clockwise seen from its front."""
        p = np.asarray(corners, np.float64)
        normal = np.cross(p[1] - p[0], p[3] - p[0])
        normal /= np.linalg.norm(normal)
        drop = int(np.argmax(np.abs(normal)))
        uv = np.delete(p, drop, axis=1) * [1, -1 if drop != 2 else 1] / scale
        self.add(bsp.POLYGON, texture, p, uv, np.tile(normal, (4, 1)), corners=[0, 2, 1, 0, 3, 2])

    def patch(self, texture: int, net: ArrayLike, around: float, along: float) -> None:
        """A curved face of control points (H, W, 3), with so many pictures around and along; its front is where
        columns cross rows."""
        p = np.asarray(net, np.float64)
        tall, wide = p.shape[:2]
        du = np.gradient(p, axis=1)
        dv = np.gradient(p, axis=0)
        normals = np.cross(dv, du)
        normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-9)
        v, u = np.meshgrid(np.linspace(0, along, tall), np.linspace(0, around, wide), indexing="ij")
        self.add(bsp.PATCH, texture, p, np.stack([u, v], -1), normals, net=(wide, tall))

    def box(self, texture: int, low: ArrayLike, high: ArrayLike, sides: str = "-x +x -y +y -z +z") -> None:
        """The named sides of a box, seen from outside."""
        (ax, ay, az), (bx, by, bz) = low, high
        faces = {
            "-x": [(ax, by, az), (ax, ay, az), (ax, ay, bz), (ax, by, bz)],
            "+x": [(bx, ay, az), (bx, by, az), (bx, by, bz), (bx, ay, bz)],
            "-y": [(ax, ay, az), (bx, ay, az), (bx, ay, bz), (ax, ay, bz)],
            "+y": [(bx, by, az), (ax, by, az), (ax, by, bz), (bx, by, bz)],
            "-z": [(ax, by, az), (bx, by, az), (bx, ay, az), (ax, ay, az)],
            "+z": [(ax, ay, bz), (bx, ay, bz), (bx, by, bz), (ax, by, bz)],
        }
        for side in sides.split():
            self.quad(texture, faces[side])


def build() -> Level:
    """The chapel."""
    level = Level()
    level.quad(FLOOR, [(-384, -256, 0), (384, -256, 0), (384, 256, 0), (-384, 256, 0)])
    # The vault, seen from below.
    section = [(-256, 256), (-256, 512), (0, 512), (256, 512), (256, 256)]
    net = [[(x, y, z) for y, z in section] for x in (384.0, 0.0, -384.0)]
    level.patch(VAULT, net, 6.0, 6.0)
    ring = weights(2) @ np.array(section, np.float64)
    for end in (-1.0, 1.0):
        x = end * 384.0
        for (ya, za), (yb, zb) in pairwise(ring):
            line = [(x, ya, 256.0), (x, yb, 256.0), (x, yb, zb), (x, ya, za)]
            if ya == -256:
                line = [(x, ya, 256.0), (x, yb, 256.0), (x, yb, zb), (x, (ya + yb) / 2, (256.0 + zb) / 2)]
            if yb == 256:
                line = [(x, ya, 256.0), (x, yb, 256.0), (x, (ya + yb) / 2, (256.0 + za) / 2), (x, ya, za)]
            level.quad(STONE, line if end < 0 else [line[k] for k in (1, 0, 3, 2)])
    wall = [(-384, -256, 0), (-384, 256, 0), (-384, 256, 256), (-384, -256, 256)]
    level.quad(STONE, wall)
    level.quad(STONE, [(384, -256, 0), (384, -256, 256), (384, 256, 256), (384, 256, 0)])
    for side in (-1.0, 1.0):
        _side(level, side)
    # Stairs up to a stage with an altar.
    for k in range(6):
        low, z = 192.0 + 16 * k, 10.0 * k
        level.box(TRIM, (low, -128, z), (low + 16, 128, z + 10), "-x -y +y +z")
        if k:
            level.box(TRIM, (low, -128, 0), (low + 16, 128, z), "-y +y")
    level.box(FLOOR, (288, -128, 0), (384, 128, 60), "-y +y +z")
    level.box(TRIM, (330, -40, 60), (366, 40, 96), "-x +x -y +y +z")
    for x, y in ((-200, -170), (-200, 170), (56, -170), (56, 170), (290, -200), (290, 200)):
        _column(level, x, y, 256.0)
    for x, _, _ in (at for at, _, _ in LIGHTS[:3]):
        level.box(LAMP, (x - 12, -12, 340), (x + 12, 12, 364), "-x +x -y +y -z +z")
        level.box(WOOD, (x - 2, -2, 364), (x + 2, 2, 510), "-x +x -y +y")
    for (x, y, z), _, _ in LIGHTS[3:9]:
        level.box(LAMP, (x - 8, y - 8 + 56 * np.sign(y), z), (x + 8, y + 8 + 56 * np.sign(y), z + 20))
    for x, y, size in ((-330, -200, 44), (-290, -214, 32), (-332, -152, 30), (130, 214, 40)):
        level.box(WOOD, (x - size / 2, y - size / 2, 0), (x + size / 2, y + size / 2, size), "-x +x -y +y +z")
    _urn(level, 348.0, 0.0, 96.0)
    return level


def _side(level: Level, side: float) -> None:
    """A wall of three arches, and the aisle behind it."""

    def add(texture: int, corners: list[tuple[float, float, float]]) -> None:
        placed = [(x, side * y, z) for x, y, z in corners]
        level.quad(texture, placed if side > 0 else placed[::-1])

    front, back, far, half, spring = 256.0, 288.0, 448.0, 84.0, 110.0
    arc = weights(2) @ np.array(
        [(-half, spring), (-half, spring + half), (0, spring + half), (half, spring + half), (half, spring)], np.float64
    )
    for middle in (-256.0, 0.0, 256.0):
        low, high = middle - 128, middle + 128
        for y, turn in ((front, 1), (back, -1)):
            top = 256.0 if turn > 0 else 220.0
            parts = [[(low, y, 0), (middle - half, y, 0), (middle - half, y, spring), (low, y, spring)]]
            parts.append([(middle + half, y, 0), (high, y, 0), (high, y, spring), (middle + half, y, spring)])
            parts.append([(low, y, spring), (middle - half, y, spring), (middle - half, y, top), (low, y, top)])
            parts.append([(middle + half, y, spring), (high, y, spring), (high, y, top), (middle + half, y, top)])
            for (xa, za), (xb, zb) in pairwise(arc):
                parts.append([(middle + xa, y, za), (middle + xb, y, zb), (middle + xb, y, top), (middle + xa, y, top)])
            for part in parts:
                add(STONE, part if turn > 0 else part[::-1])
        add(
            TRIM,
            [
                (middle - half, front, 0),
                (middle - half, back, 0),
                (middle - half, back, spring),
                (middle - half, front, spring),
            ],
        )
        add(
            TRIM,
            [
                (middle + half, back, 0),
                (middle + half, front, 0),
                (middle + half, front, spring),
                (middle + half, back, spring),
            ],
        )
        section = [(-half, spring), (-half, spring + half), (0, spring + half), (half, spring + half), (half, spring)]
        rows = (front, (front + back) / 2, back) if side > 0 else (back, (front + back) / 2, front)
        level.patch(TRIM, [[(middle + x, side * y, z) for x, z in section] for y in rows], 4.0, 0.5)
        # Threshold between the floors, and a niche's bench.
        level.box(
            WOOD,
            (middle - 60, min(side * 420, side * far), 0),
            (middle + 60, max(side * 420, side * far), 22),
            "-x +x -y +y +z",
        )
    add(FLOOR, [(-384, front, 0), (384, front, 0), (384, far, 0), (-384, far, 0)])
    add(VAULT, [(-384, far, 220), (384, far, 220), (384, back, 220), (-384, back, 220)])
    add(STONE, [(-384, far, 0), (384, far, 0), (384, far, 220), (-384, far, 220)])
    add(STONE, [(-384, back, 0), (-384, far, 0), (-384, far, 220), (-384, back, 220)])
    add(STONE, [(384, far, 0), (384, back, 0), (384, back, 220), (384, far, 220)])


def _circle(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    """Nine control points of four quarter arcs."""
    steps = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)]
    return [(x + radius * a, y + radius * b) for a, b in steps]


def _column(level: Level, x: float, y: float, top: float) -> None:
    for radii, heights, around in (
        ((30, 30, 24), (0, 12, 16), 2.0),
        ((24, 18, 20), (16, top / 2, top - 24), 1.5),
        ((20, 24, 34), (top - 24, top - 12, top), 2.0),
    ):
        net = [[(px, py, z) for px, py in _circle(x, y, r)] for r, z in zip(radii, heights, strict=True)]
        level.patch(TRIM, net[::-1], around, (heights[-1] - heights[0]) / 96.0)


def _urn(level: Level, x: float, y: float, z: float) -> None:
    """A mesh with colours of its vertices."""
    profile = np.array([(0, 0), (9, 0), (6, 4), (12, 14), (14, 24), (8, 34), (10, 38), (0, 38)], np.float64)
    angle = 2 * np.pi * np.arange(16) / 16
    around = np.stack([np.cos(angle), np.sin(angle)], -1)
    points = np.array([[(x + r * a, y + r * b, z + h) for a, b in around] for r, h in profile])
    normals = np.array([[(a, b, 0.2 if k > 3 else -0.2) for a, b in around] for k in range(len(profile))])
    corners = []
    for row in range(len(profile) - 1):
        for k in range(16):
            a, b = row * 16 + k, row * 16 + (k + 1) % 16
            corners += ([a, b, b + 16] if row else []) + ([a, b + 16, a + 16] if row < len(profile) - 2 else [])
            if row == 0:
                corners += [a, b + 16, a + 16]
    corners = [c for c in np.array(corners).reshape(-1, 3).tolist() if len(set(c)) == 3]
    flat = [c for tri in corners for c in tri]
    level.add(bsp.MESH, WOOD, points, np.zeros((*points.shape[:2], 2)), normals, corners=flat)
    tint = np.linspace(0, 1, len(profile))[:, None] * [60, 90, 40] + [150, 70, 30]
    level.vertices[-1]["color"][:, :3] = np.repeat(tint, 16, axis=0)


# -- lightmaps ---------------------------------------------------------------------------------------------------------


def bake(level: Level) -> NDArray[np.uint8]:
    """Pages (P, 128, 128, 3); faces and vertices get their places in them."""
    blocks = []
    for number, face in enumerate(level.faces):
        p = face["points"]
        if face["kind"] == bsp.POLYGON:
            across = max(np.linalg.norm(p[1] - p[0]), np.linalg.norm(p[2] - p[3]))
            up = max(np.linalg.norm(p[3] - p[0]), np.linalg.norm(p[2] - p[1]))
        elif face["kind"] == bsp.PATCH:
            across = np.linalg.norm(np.diff(p, axis=1), axis=-1).sum(axis=1).max()
            up = np.linalg.norm(np.diff(p, axis=0), axis=-1).sum(axis=0).max()
        else:
            continue
        size = [int(np.clip(np.ceil(each / LUXEL) + 1, 2, 64)) for each in (across, up)]
        blocks.append((number, *size))
    blocks.sort(key=lambda block: (-block[2], -block[1], block[0]))
    page = x = y = line = 0
    positions, normals, places = [], [], []
    for number, wide, tall in blocks:
        if x + wide > bsp.PAGE:
            x, y, line = 0, y + line, 0
        if y + tall > bsp.PAGE:
            page, x, y, line = page + 1, 0, 0, 0
        face = level.faces[number]
        face |= {"lightmap": page, "light_start": (x, y), "light_size": (wide, tall)}
        at, normal = _luxels(face, wide, tall)
        positions.append(at.reshape(-1, 3))
        normals.append(normal.reshape(-1, 3))
        rows, columns = np.meshgrid(np.arange(tall) + y, np.arange(wide) + x, indexing="ij")
        places.append((np.full(wide * tall, page) * bsp.PAGE + rows.ravel()) * bsp.PAGE + columns.ravel())
        own = level.vertices[number]
        s, t = _parameters(face)
        own["light_uv"] = np.stack([(x + 0.5 + s * (wide - 1)), (y + 0.5 + t * (tall - 1))], -1) / bsp.PAGE
        x, line = x + wide, max(line, tall)
    pages = np.zeros(((page + 1) * bsp.PAGE * bsp.PAGE, 3))
    pages[np.concatenate(places)] = _light(level, np.concatenate(positions), np.concatenate(normals))
    return np.clip(np.rint(pages), 0, 255).astype(np.uint8).reshape(-1, bsp.PAGE, bsp.PAGE, 3)


def _parameters(face: dict) -> tuple[Array, Array]:
    """Where the face's own points lie in its block, 0 to 1."""
    if face["kind"] == bsp.POLYGON:
        return np.array([0.0, 1, 1, 0]), np.array([0.0, 0, 1, 1])
    tall, wide = face["points"].shape[:2]
    t, s = np.meshgrid(np.linspace(0, 1, tall), np.linspace(0, 1, wide), indexing="ij")
    return s.ravel(), t.ravel()


def _luxels(face: dict, wide: int, tall: int) -> tuple[Array, Array]:
    """World positions and normals (tall, wide, 3) of a block's luxels, a little before the face."""
    p = face["points"]
    t, s = np.meshgrid(np.linspace(0, 1, tall), np.linspace(0, 1, wide), indexing="ij")
    inside = 0.02
    s, t = np.clip(s, inside, 1 - inside), np.clip(t, inside, 1 - inside)
    if face["kind"] == bsp.POLYGON:
        s, t = s[..., None], t[..., None]
        at = (1 - s) * (1 - t) * p[0] + s * (1 - t) * p[1] + s * t * p[2] + (1 - s) * t * p[3]
        normal = np.cross(p[1] - p[0], p[3] - p[0])
        normals = np.broadcast_to(normal / np.linalg.norm(normal), at.shape)
    else:
        points, _ = tessellated(p)
        rows, columns = ((count - 1) // 2 * STEPS + 1 for count in p.shape[:2])
        grid = points.reshape(rows, columns, 3)
        i, j = t * (rows - 1), s * (columns - 1)
        a, b = np.minimum(i.astype(int), rows - 2), np.minimum(j.astype(int), columns - 2)
        u, v = (i - a)[..., None], (j - b)[..., None]
        at = (1 - u) * ((1 - v) * grid[a, b] + v * grid[a, b + 1]) + u * (
            (1 - v) * grid[a + 1, b] + v * grid[a + 1, b + 1]
        )
        normals = np.cross(grid[a + 1, b] - grid[a, b], grid[a, b + 1] - grid[a, b])
        normals = normals / np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-9)
    return at + 1.0 * normals, normals


def _light(level: Level, at: Array, normals: Array) -> Array:
    """Light of 255 at luxels: of the lamps that they see, and of all sides as far as they are open."""
    renderer = viewer.Renderer(_scene(level), program="cast", machine="singlepass")
    total = np.zeros((len(at), 3))
    for origin, strength, color in LIGHTS:
        towards = np.asarray(origin) - at
        distance = np.linalg.norm(towards, axis=1)
        cosine = np.maximum((towards * normals).sum(axis=1) / distance, 0.0)
        lit = np.flatnonzero(cosine > 0)
        free = renderer.trace(at[lit], towards[lit], t_max=1.0, any_hit=True).triangle < 0
        share = np.zeros(len(at))
        share[lit] = free
        total += (share * cosine * strength * 7500.0 / distance**2)[:, None] * color
    rng = np.random.default_rng(46)
    u, v = rng.uniform(size=(2, RAYS))
    local = np.stack([np.sqrt(u) * np.cos(2 * np.pi * v), np.sqrt(u) * np.sin(2 * np.pi * v), np.sqrt(1 - u)], -1)
    helper = np.where(np.abs(normals[:, :1]) > 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    tangent = np.cross(normals, helper)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    other = np.cross(normals, tangent)
    opened = np.zeros(len(at))
    for x, y, z in local:
        direction = x * tangent + y * other + z * normals
        opened += renderer.trace(at, direction, t_max=160.0, any_hit=True).triangle < 0
    total += (0.25 + 0.75 * opened / RAYS)[:, None] * AMBIENT
    return 255.0 * (1.0 - np.exp(-total / 160.0))


def _scene(level: Level) -> Scene:
    """The triangles in level units; lamps throw no shadow."""
    positions, triangles, count = [], [], 0
    for face, own in zip(level.faces, level.vertices, strict=True):
        if face["texture"] == LAMP:
            continue
        if face["kind"] == bsp.PATCH:
            points, faces = tessellated(face["points"])
        else:
            points, faces = own["position"].astype(np.float64), np.array(face["corners"]).reshape(-1, 3)
        positions.append(points)
        triangles.append(faces + count)
        count += len(points)
    return Scene([Mesh(np.concatenate(positions), np.concatenate(triangles))], [Instance(0)])


# -- files -------------------------------------------------------------------------------------------------------------


def level_bytes(level: Level, pages: NDArray[np.uint8]) -> bytes:
    """The file."""
    faces = np.zeros(len(level.faces), bsp.FACE)
    for face, given in zip(faces, level.faces, strict=True):
        face["texture"], face["kind"], face["effect"] = given["texture"], given["kind"], -1
        face["vertex"], face["vertices"] = given["vertex"], given["number"]
        face["corner"], face["corners"] = given["first"], len(given["corners"])
        face["lightmap"] = given.get("lightmap", -1)
        face["light_start"], face["light_size"] = given.get("light_start", (0, 0)), given.get("light_size", (0, 0))
        face["net"] = given.get("net", (0, 0))
    textures = np.zeros(len(NAMES), bsp.TEXTURE)
    textures["name"], textures["contents"] = [f"chapel/{name}".encode() for name in NAMES], 1
    model = np.zeros(1, bsp.MODEL)
    every = np.concatenate(level.vertices)
    model["box"], model["faces"] = [every["position"].min(axis=0), every["position"].max(axis=0)], len(faces)
    text = '{\n"classname" "worldspawn"\n"message" "The chapel"\n}\n'
    starts = (("start", (-350, -60, 30), 4, -4), ("stage", (330, 100, 86), 200, 6), ("aisle", (-350, -372, 30), 12, -2))
    for name, (x, y, z), angle, tilt in starts:
        text += f'{{\n"classname" "info_player_deathmatch"\n"name" "{name}"\n"origin" "{x} {y} {z}"\n'
        text += f'"angle" "{angle}"\n"angles" "{tilt} {angle} 0"\n}}\n'
    for at, strength, color in LIGHTS:
        place = " ".join(f"{each:g}" for each in at)
        text += f'{{\n"classname" "light"\n"origin" "{place}"\n"light" "{strength:g}"\n'
        text += f'"_color" "{color[0]:g} {color[1]:g} {color[2]:g}"\n}}\n'
    lumps = {
        "entities": text.encode() + b"\0",
        "textures": textures.tobytes(),
        "models": model.tobytes(),
        "vertices": every.tobytes(),
        "corners": np.array(level.corners, "<i4").tobytes(),
        "faces": faces.tobytes(),
        "lightmaps": pages.tobytes(),
    }
    return bsp.join(lumps)


def pictures() -> dict[str, NDArray[np.uint8]]:
    """64 x 64 each, that repeat."""
    rng = np.random.default_rng(3)
    row, column = np.indices((64, 64))
    smooth = rng.uniform(-1, 1, (16, 16)).repeat(4, 0).repeat(4, 1)
    noise = 0.5 * smooth + 0.5 * rng.uniform(-1, 1, (64, 64))

    def tinted(color: tuple[int, int, int], shade: Array) -> NDArray[np.uint8]:
        values = np.clip(np.array(color) * shade[..., None], 0, 255)
        return (np.rint(values / 4) * 4).clip(0, 255).astype(np.uint8)

    course = row // 16
    joint = (row % 16 < 1) | ((column + 16 * (course % 2)) % 32 < 1)
    block = rng.uniform(0.85, 1.1, (4, 3))[course, ((column + 16 * (course % 2)) % 64) // 32]
    stone = np.where(joint, 0.62, block) + 0.06 * noise
    tile = ((row // 32 + column // 32) % 2) * 0.28 + 0.72
    tiles = np.where((row % 32 < 1) | (column % 32 < 1), 0.5, tile) + 0.04 * noise
    coffer = np.minimum.reduce([row % 32, 31 - row % 32, column % 32, 31 - column % 32])
    vault = np.select([coffer < 3, coffer < 6], [1.05, 0.72], 0.86) + 0.03 * noise
    plank = np.where(column % 16 < 1, 0.45, 0.8 + 0.12 * np.sin(row * 0.3 + 5 * np.sin(column * 0.5))) + 0.05 * noise
    plank = np.where((row < 3) | (row > 60), 0.55, plank)
    lamp = np.where((row % 32 < 4) | (column % 32 < 4), 0.35, 1.0)
    trim = 0.94 + 0.05 * noise - 0.12 * (row % 32 < 2)
    return {
        "stone": tinted((206, 188, 158), stone),
        "floor": tinted((196, 150, 118), tiles),
        "vault": tinted((186, 196, 204), vault),
        "wood": tinted((168, 112, 66), plank),
        "lamp": tinted((255, 226, 160), lamp),
        "trim": tinted((222, 208, 182), trim),
    }


def main(folder: Path) -> None:
    """Write the level and its pictures into a folder."""
    level = build()
    pages = bake(level)
    (folder / "chapel").mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        Image.fromarray(picture).quantize(64).save(folder / "chapel" / f"{name}.png", optimize=True)
    (folder / "chapel.bsp").write_bytes(level_bytes(level, pages))
    print(f"{len(level.faces):,} faces, {len(pages)} lightmaps")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "assets" / "levels")
