"""A jet and a helicopter: stand-ins for the models SR71A (4,446 triangles, one instance, one light) and Hind24 (only a
picture and a frame rate published) of A. Adinetz and B. Berezin, *Implementing Classical Ray Tracing on GPU: a Case
Study of GPU Programming* (2006). The shapes are our own. Metres; +Y is up, noses to +Z.
"""

from __future__ import annotations

import numpy as np

from raystream.scene.builtin.parts.offices import collected
from raystream.scene.builtin.parts.shapes import (
    Array,
    Part,
    Piece,
    boards,
    box,
    cap,
    cushion,
    joined,
    lathe,
    mirrored,
    revolve,
    ring,
    surface,
    sweep,
    transformed,
)
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Instance
from raystream.scene.scene import Scene

JET = 4_446  # triangles
BLACK, PALE = (0.045, 0.048, 0.055), (0.55, 0.55, 0.56)


def _lying(at: tuple[float, float, float]) -> Array:
    """A transform that turns +Y to +Z."""
    matrix = np.eye(4)
    matrix[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    matrix[:3, 3] = at
    return matrix


def _wing(outline: list[tuple[float, float]], thick: float, cells: int) -> Part:
    """A flat lens over a quadrilateral of (x, z): inner front, outer front, outer back, inner back; counter-clockwise
    from above if x grows outwards to the right of +Z."""
    a, b, c, d = (np.array([x, 0.0, z]) for x, z in outline)
    u, v = np.meshgrid(np.linspace(0, 1, cells + 1), np.linspace(0, 1, cells + 1), indexing="ij")
    front = a + (b - a) * u[..., None]
    back = d + (c - d) * u[..., None]
    net = front + (back - front) * v[..., None]
    rise = thick * np.sqrt(np.maximum(v * (1 - v), 0.0)) * (1.0 - 0.7 * u)
    upper, lower = net + rise[..., None] * [0, 1, 0], net - rise[..., None] * [0, 1, 0]
    return joined([surface(upper[::-1]), surface(lower)])


def jet() -> Scene:
    """A black reconnaissance jet on concrete: 4,446 triangles of one mesh."""
    z = np.array([16.3, 15.2, 13.5, 11.0, 8.0, 4.0, 0.0, -4.0, -8.0, -12.0, -14.5, -15.8])
    wide = np.array([0.06, 0.5, 0.95, 1.4, 1.75, 1.85, 1.7, 1.4, 1.2, 0.9, 0.45, 0.06])
    tall = np.array([0.05, 0.28, 0.52, 0.72, 0.85, 0.9, 0.9, 0.85, 0.75, 0.55, 0.3, 0.05])
    # A chine: sharp at both sides, round above.
    angle = 2 * np.pi * np.arange(28) / 28
    section = np.stack(
        [np.cos(angle) * np.abs(np.cos(angle)) ** 0.15, np.sin(angle) * np.abs(np.sin(angle)) ** 0.5], -1
    )
    body = sweep(np.stack([0 * z, 2.6 + 0.01 * z, z], -1), section, np.stack([wide, tall], -1))
    wing = _wing([(1.2, 3.5), (8.4, -9.0), (8.4, -10.6), (1.2, -12.2)], 0.35, 8)
    flat = wing.positions + [0.0, 2.45, 0.0]
    wing = Part(flat, wing.normals, wing.triangles)
    nacelle = revolve(
        [(0.85, -8.2), (1.05, -7.4), (1.12, -4.0), (1.1, 0.0), (0.98, 3.0), (0.90, 3.4), (0.82, 3.2), (0.78, 0.5)], 26
    )
    spike = lathe([(0.62, 1.2), (0.5, 3.2), (0.25, 4.6), (0.0, 5.6)], 20)
    nozzle = revolve([(0.0, -6.0), (0.7, -7.2), (0.72, -8.4), (0.84, -8.4), (0.86, -8.1)], 24)
    engine = transformed(joined([nacelle, spike]), _lying((4.9, 2.45, -3.5)))
    exhaust = transformed(nozzle, _lying((4.9, 2.45, -3.5)))
    fin = _wing([(0.0, 3.4), (2.9, 0.6), (2.9, -1.0), (0.0, -1.4)], 0.16, 5)
    up = np.eye(4)
    lean = np.radians(105.0)
    up[:2, :2] = [[np.cos(lean), -np.sin(lean)], [np.sin(lean), np.cos(lean)]]
    up[:3, 3] = 5.0, 3.4, -8.6
    fin = transformed(fin, up)
    canopy = cushion((0.9, 0.75, 3.4), 20, 10, 0.9).moved((0.0, 3.35, 9.8))
    gear = [
        sweep([(x, 0.5, at), (x, 1.4, at - 0.1), (x, 2.3, at - 0.2)], 0.09 * ring(8))
        for x, at in ((0.0, 7.5), (3.0, -3.0))
    ]
    turned = np.eye(4)
    turned[:3, :3] = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    tyre = transformed(
        lathe([(0.0, -0.14), (0.36, -0.14), (0.44, -0.06), (0.44, 0.06), (0.36, 0.14), (0.0, 0.14)], 16), turned
    )
    tyres = [
        tyre.moved((x, 0.44, at)) for x, at in ((-0.22, 7.5), (0.22, 7.5), (2.65, -3.0), (3.0, -3.0), (3.35, -3.0))
    ]
    left = [mirrored(part) for part in (wing, engine, fin)]
    pieces = [
        Piece(joined([body, wing, engine, fin, *left]), BLACK, 1),
        Piece(joined([exhaust, mirrored(exhaust)]), (0.20, 0.16, 0.13), 2),
        Piece(canopy, (0.02, 0.03, 0.05), 2),
        Piece(joined([*gear, mirrored(gear[1])]), PALE, 2),
        Piece(joined([*tyres, *(mirrored(tyre) for tyre in tyres[2:])]), (0.03, 0.03, 0.03), 0),
    ]
    counted = sum(len(piece.part.triangles) for piece in pieces)
    part, shade = boards((JET - counted) // 2, (44.0, 56.0), 12, np.random.default_rng(71))
    pieces.append(Piece(part, np.clip(np.array([0.44, 0.43, 0.40]) * (0.6 + 0.4 * shade), 0, 1), 0))
    return Scene(
        [collected("jet", pieces)],
        [Instance(0, name="jet")],
        [
            Material("concrete", double_sided=True),
            Material("paint", kind="phong", specular=0.12, exponent=30.0, reflectivity=0.06, double_sided=True),
            Material("metal", kind="phong", specular=0.3, exponent=120.0, reflectivity=0.35, double_sided=True),
        ],
        [
            Camera((19.0, 12.0, 26.0), (-0.4, 1.4, 0.4), fov=46, name="front"),
            Camera((-19.0, 8.0, -17.0), (0.0, 2.0, 0.0), fov=46, name="behind"),
            Camera((0.0, 46.0, 1.0), (0.0, 0.0, 0.0), fov=46, name="top"),
        ],
        lights=[Light("directional", "sun", direction=(-0.3, -0.8, -0.5), intensity=(3.4, 3.2, 2.8))],
        name="jet",
        fills=True,
    )


def helicopter() -> Scene:
    """A combat helicopter above a field, its rotors apart."""
    z = np.array([6.4, 6.0, 5.0, 3.6, 2.0, 0.0, -2.0, -3.6, -6.0, -9.0, -10.6])
    wide = np.array([0.1, 0.5, 0.8, 0.92, 1.0, 1.0, 0.9, 0.6, 0.34, 0.26, 0.18])
    tall = np.array([0.1, 0.45, 0.7, 0.95, 1.1, 1.1, 1.0, 0.66, 0.42, 0.34, 0.24])
    y = np.array([2.0, 2.05, 2.15, 2.4, 2.5, 2.5, 2.6, 2.85, 3.0, 3.1, 3.2])
    hull = sweep(np.stack([0 * z, y, z], -1), ring(32, 0.7), np.stack([wide, tall], -1))
    spots = np.sin(1.9 * hull.positions[:, 2] + 2 * np.sin(1.3 * hull.positions[:, 1])) + np.sin(
        2.3 * hull.positions[:, 0]
    )
    paint = np.where(
        spots[:, None] > 0.25,
        (0.10, 0.14, 0.05),
        np.where(spots[:, None] > -0.7, (0.24, 0.20, 0.10), (0.05, 0.06, 0.04)),
    )
    domes = [
        cushion((1.1, 1.15, 1.7), 24, 14, 1.0).moved((0.0, 2.75, 4.5)),
        cushion((1.2, 1.2, 1.7), 24, 14, 1.0).moved((0.0, 3.4, 3.0)),
    ]
    intake = revolve([(0.0, -2.2), (0.32, -2.0), (0.42, -1.0), (0.42, 1.2), (0.36, 1.5), (0.3, 1.45), (0.0, 1.2)], 22)
    engines = [transformed(intake, _lying((s * 0.5, 3.85, 0.9))) for s in (-1, 1)]
    mast = lathe([(0.3, 0.0), (0.22, 0.7), (0.34, 0.85), (0.34, 1.05), (0.0, 1.15)], 20).moved((0.0, 3.7, 0.0))
    stub = _wing([(0.7, 0.9), (3.3, 0.2), (3.3, -0.6), (0.7, -0.9)], 0.3, 8).moved((0.0, 2.5, 0.0))
    tail = _wing([(0.0, 0.9), (1.9, 0.1), (1.9, -0.5), (0.0, -0.6)], 0.12, 5).moved((0.0, 3.1, -9.2))
    fin = np.eye(4)
    fin[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    fin[:3, 3] = 0.0, 3.2, -9.8
    upright = transformed(_wing([(0.0, 0.9), (2.2, -0.7), (2.2, -1.6), (0.0, -0.9)], 0.2, 6), fin)
    pod = lathe([(0.0, -0.9), (0.16, -0.9), (0.18, -0.6), (0.18, 0.5), (0.14, 0.8), (0.0, 0.95)], 18)
    pods = [transformed(pod, _lying((s * x, 2.15, -0.1))) for s in (-1, 1) for x in (1.7, 2.6)]
    green = [mirrored(part) for part in (stub, tail)]
    dark = (0.05, 0.055, 0.05)
    body = collected(
        "helicopter",
        [
            Piece(hull, paint, 1),
            Piece(joined([stub, tail, upright, *green, *engines]), (0.12, 0.15, 0.06), 1),
            Piece(joined([mast, *pods, cap(hull, 32, True)]), dark, 1),
            Piece(joined(domes), (0.03, 0.05, 0.07), 2),
        ],
    )
    blade = box((0.3, -0.03, -0.22), (8.2, 0.03, 0.22)).turned(20.0)
    rotor = collected("rotor", [Piece(joined([blade.turned(72.0 * k) for k in range(5)]), dark, 1)])
    small = [box((0.1, -0.015, -0.1), (1.8, 0.015, 0.1)).turned(120.0 * k + 15) for k in range(3)]
    on_edge = np.eye(4)
    on_edge[:3, :3] = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    tail_rotor = collected("tail rotor", [Piece(transformed(joined(small), on_edge), dark, 1)])
    part, shade = boards(700, (90.0, 90.0), 20, np.random.default_rng(24))
    field = collected("field", [Piece(part, np.clip(np.array([0.20, 0.27, 0.09]) * shade, 0, 1), 0)])
    meshes = [body, rotor, tail_rotor, field]
    places = [(0.0, 6.0, 0.0), (0.0, 10.85, 0.0), (0.32, 11.0, -11.0), (0.0, 0.0, 0.0)]
    instances = []
    for k, (mesh, at) in enumerate(zip(meshes, places, strict=True)):
        matrix = np.eye(4)
        matrix[:3, 3] = at
        instances.append(Instance(k, matrix, name=mesh.name))
    return Scene(
        meshes,
        instances,
        [
            Material("field"),
            Material("paint", kind="phong", specular=0.06, exponent=30.0, double_sided=True),
            Material("glass", kind="phong", specular=0.3, exponent=200.0, reflectivity=0.4, double_sided=True),
        ],
        [
            # Well above the rotor, whose disc is a dark line across the sky where the eye is level with it.
            Camera((14.0, 15.5, 17.0), (-0.3, 8.2, -1.5), fov=48, name="front"),
            Camera((-18.0, 12.0, -6.0), (0.0, 8.6, -2.0), fov=48, name="side"),
            Camera((2.0, 30.0, 6.0), (0.0, 6.0, -1.5), fov=46, name="top"),
        ],
        lights=[Light("directional", "sun", direction=(-0.5, -0.8, -0.4), intensity=(3.3, 3.1, 2.7))],
        name="helicopter",
        fills=True,
    )
