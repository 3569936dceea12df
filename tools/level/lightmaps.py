"""Lightmaps of a level, traced: light of its lamps, and of all sides as far as they are open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.formats import bsp
from raystream.formats.bsp import STEPS, tessellate
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

from .chapel import LIGHTS
from .faces import Array, Level
from .textures import LAMP

LUXEL = 12.0  # units between luxels
AMBIENT, RAYS = np.array([60.0, 62.0, 74.0]), 48  # of 255; rays that look for it


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
        points, _ = tessellate(p)
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
    renderer = raystream.Renderer(_scene(level), program="cast", machine="singlepass")
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
            points, faces = tessellate(face["points"])
        else:
            points, faces = own["position"].astype(np.float64), np.array(face["corners"]).reshape(-1, 3)
        positions.append(points)
        triangles.append(faces + count)
        count += len(points)
    return Scene([Mesh(np.concatenate(positions), np.concatenate(triangles))], [Instance(0)])
