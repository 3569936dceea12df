"""Drawings after the captions of figures whose printed drawings are not at hand: D, chapters 2 and 4, and T, chapter 6;
from the program's own data where it has them. `DRAWINGS` lists them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from raystream.stream.declare.limits import LIMITS
from reproduction.simulators.whitted.model import Model

from .diagram_drawings import GAP, HEIGHT, ROW, WIDTH, Box, draw_pipeline, draw_row, draw_streams
from .drawing import SHADES, SOFT, Drawing, Point
from .report import Figure, captioned
from .thesis_drawings import ANGLE, INDEX, directions, draw_structure, small

# -- D ---------------------------------------------------------------------------------------------------------------


def draw_rays() -> str:
    """An eye ray to a ball of glass: what it reflects and transmits, and shadow rays to the light from each hit."""
    drawing, centre, radius = Drawing(), np.array([300.0, 150.0]), 70.0
    eye, light, floor = np.array([40.0, 120.0]), np.array([420.0, 24.0]), 260.0
    towards = np.array([1.0, 0.04]) / math.hypot(1.0, 0.04)
    along = float((centre - eye) @ towards)
    aside = float(np.linalg.norm(eye + along * towards - centre))
    hit = eye + (along - math.sqrt(radius**2 - aside**2)) * towards
    normal = (hit - centre) / radius
    cosine = float(-towards @ normal)
    reflected = towards + 2 * cosine * normal
    inner = math.sqrt(1 - (1 - cosine**2) / INDEX**2)
    within = towards / INDEX + (cosine / INDEX - inner) * normal
    leaves = hit - 2 * float(within @ (hit - centre)) * within
    below = leaves + within * (floor - leaves[1]) / max(float(within[1]), 0.05)
    drawing.ellipse(centre[0], centre[1], radius, radius, "", fill=SHADES[0])
    drawing.line((20, floor), (560, floor))
    for start, end, name, dashed in (
        (eye, hit, "P", False),
        (hit, hit + 120 * reflected, "R", False),
        (hit, leaves, "T", False),
        (leaves, np.array([min(below[0], 540.0), min(below[1], floor)]), "T", False),
        (hit, light, "S", True),
    ):
        drawing.arrow(tuple(start), tuple(end), dashed=dashed)
        drawing.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - 6, name, 11)
    drawing.ellipse(light[0], light[1], 12, 12, "", fill=SHADES[1])
    drawing.text(light[0] + 18, light[1] + 4, "light", 11)
    drawing.text(20, 116, "eye", 11)
    return drawing.document(580, 280, "rays of the ray tracing algorithm")


def draw_acceleration() -> str:
    """A uniform grid, boxes around boxes, and an octree (here of squares), over the same triangles."""
    rng = np.random.default_rng(3)
    middles = np.concatenate([rng.uniform(0.05, 0.35, (5, 2)), rng.uniform(0.5, 0.95, (3, 2))])
    triangles = middles[:, None] + rng.uniform(-0.05, 0.05, (8, 3, 2))
    drawing, edge = Drawing(), 180.0
    cells: tuple[list[NDArray], ...] = ([], [], [])
    cells[0].extend(np.array([[x, y], [x + 1, y + 1]]) / 6 for x in range(6) for y in range(6))

    def boxes(some: NDArray, axis: int) -> None:
        flat = some.reshape(-1, 2)
        cells[1].append(np.array([flat.min(axis=0), flat.max(axis=0)]))
        if len(some) > 1:
            order = np.argsort(some.mean(axis=1)[:, axis])
            for half in np.array_split(some[order], 2):
                boxes(half, 1 - axis)

    def squares(low: NDArray, size: float, depth: int) -> None:
        cells[2].append(np.array([low, low + size]))
        inside = [
            each for each in triangles if (each.max(axis=0) >= low).all() and (each.min(axis=0) <= low + size).all()
        ]
        if len(inside) > 1 and depth < 4:
            for x, y in ((0, 0), (1, 0), (0, 1), (1, 1)):
                squares(low + np.array([x, y]) * size / 2, size / 2, depth + 1)

    boxes(triangles, 0)
    squares(np.zeros(2), 1.0, 0)
    for number, (name, some) in enumerate(zip(("uniform grid", "bounding volumes", "octree"), cells, strict=True)):
        left = 14 + number * (edge + 26)
        for low, high in some:
            width, height = edge * (high - low)
            drawing.box(left + edge * low[0], 12 + edge * low[1], width, height, "none", SOFT)
        for each in triangles:
            corners = [(left + edge * x, 12 + edge * y) for x, y in (*each, each[0])]
            drawing.line(*corners)
        drawing.text(left + edge / 2, edge + 32, f"{name}: {len(some)} regions", 11, middle=True)
    return drawing.document(3 * (edge + 26) + 4, edge + 44, "acceleration structures")


def draw_fragment_processor(streams: bool = False) -> str:
    """What a fragment program reads and writes, with the limits of 2004. streams : by the terms of streams, too."""
    day = LIMITS["2004"]
    term = "({})".format if streams else lambda each: ""
    reads = (
        ("fragments, interpolated", term("input stream") or "position and attributes"),
        ("constants", term("parameters") or "uniforms"),
        ("textures", term("memory") or f"{day.samplers} at most, {day.fetches} levels deep"),
        ("temporary registers", term("registers") or "lost after the fragment"),
    )
    drawing, top, tall, x = Drawing(), 14.0, HEIGHT + 10, 12 + WIDTH + 3 * GAP
    middle = top + 2 * tall - 5
    for k, (name, about) in enumerate(reads):
        y = top + k * tall
        drawing.named(12, y, WIDTH + 20, HEIGHT, name, about, SHADES[2])
        drawing.line((32 + WIDTH, y + HEIGHT / 2), (x, middle + (k - 1.5) * 12))
    boxes = (
        Box("fragment program", term("kernel") or f"{day.instructions} instructions", True),
        Box("framebuffer", term("output stream") or f"{day.outputs} outputs, RGBA"),
    )
    draw_row(drawing, boxes, middle - HEIGHT / 2, left=x)
    return drawing.document(x + 2 * WIDTH + GAP + 12, top + 4 * tall, "a fragment processor")


def draw_invocations() -> str:
    """Kernels of the ray caster in two passes: what one writes to the framebuffer, the next reads as a texture."""
    drawing, wide = Drawing(), 3 * (WIDTH + GAP)
    for number, kernel in enumerate(("eye", "setup")):
        top = 14.0 + number * 2.1 * HEIGHT
        boxes = (Box("rasterizer", "a fragment for each ray"), Box(f"kernel {kernel}", f"pass {number + 1}", True))
        draw_row(drawing, (*boxes, Box("framebuffer", "output stream")), top)
    right, left = 12 + 2.5 * WIDTH + 2 * GAP, 12 + 1.5 * WIDTH + GAP
    middle = 14.0 + 1.55 * HEIGHT
    drawing.arrow((right, 14 + HEIGHT), (right, middle), (left, middle), (left, 14 + 2.1 * HEIGHT))
    drawing.text((left + right) / 2, middle - 6, "copied, or renamed: a texture, read-only memory", 10.5, SOFT, True)
    return drawing.document(wide, 28 + 3.2 * HEIGHT, "two kernels by two passes")


def draw_lookup() -> str:
    """Four triangles in two textures: vertex numbers, which are addresses of vertices."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0]])
    triangles = np.array([[0, 1, 3], [1, 4, 3], [1, 2, 4], [2, 5, 4]])
    drawing, wide, left, shown = Drawing(), 92, 130, 2
    for name, y, table in (("triangles", 22.0, triangles), ("vertices", 110.0, vertices)):
        drawing.text(12, y + 15, name, 12)
        of_shown = triangles[shown] if name == "vertices" else (shown,)
        cells = [(" ".join(map(str, each)), 0 if k in of_shown else -1) for k, each in enumerate(table)]
        drawing.cells(left, y, wide, ROW, cells)
        for k in range(len(table)):
            drawing.text(left + (k + 0.5) * wide, y - 5, f"{k}", 9.5, SOFT, True)
    for vertex in triangles[shown]:
        drawing.arrow((left + (shown + 0.5) * wide, 22 + ROW), (left + (vertex + 0.5) * wide, 98))
    drawing.text(
        12, 160, "a fetched number is the address of the next fetch: three dependent ones a triangle", 11, SOFT
    )
    return drawing.document(left + 6 * wide + 12, 172, "a dependent lookup")


# -- T ---------------------------------------------------------------------------------------------------------------


def draw_modules(whole: bool = False) -> str:
    """A tracer in three kinds by one interface; ours in brackets. whole : with the application on top."""
    drawing, top = Drawing(), 14.0 + (1.6 * HEIGHT if whole else 0)
    x = 12 + WIDTH + GAP
    if whole:
        drawing.named(x, 14, WIDTH, HEIGHT, "application", "(draws the frames)", SHADES[1])
        drawing.arrow((x + WIDTH / 2, 14 + HEIGHT), (x + WIDTH / 2, top))
    drawing.named(x, top, WIDTH, HEIGHT, "ray tracer", "(the structure: model)", SHADES[0])
    for k, (name, ours) in enumerate((("CPU", "processor"), ("OpenCL", "opencl"), ("CUDA", "fragment programs"))):
        left, below = 12 + k * (WIDTH + GAP), top + 1.8 * HEIGHT
        drawing.named(left, below, WIDTH, HEIGHT, f"{name} ray tracer", f"({ours})", SHADES[2])
        drawing.arrow((left + WIDTH / 2, below), (x + WIDTH / 2 + (k - 1) * 30, top + HEIGHT))
    return drawing.document(24 + 3 * WIDTH + 2 * GAP, top + 2.8 * HEIGHT + 14, "modules of the thesis's system")


def draw_barycentric() -> str:
    """A triangle's point as a weighted sum of its corners: each weight a share of the area."""
    corners, weights = np.array([[30.0, 200.0], [300.0, 220.0], [150.0, 24.0]]), np.array([0.25, 0.35, 0.4])
    point = weights @ corners
    drawing = Drawing()
    drawing.line(*map(tuple, corners), tuple(corners[0]))
    for k, name in enumerate("abc"):
        drawing.line(tuple(corners[k]), tuple(point), dashed=True)
        x, y = corners[k] + [(-14, 6), (6, 6), (4, -4)][k]
        drawing.text(x, y, name, 12)
        x, y = (corners.sum(axis=0) - corners[k] + point) / 3
        drawing.text(x, y, f"A_{name} / A = {weights[k]:g}", 10.5, SOFT, True)
    drawing.ellipse(point[0], point[1], 3, 3, "", fill=SHADES[1])
    return drawing.document(340, 240, "barycentric coordinates")


def draw_spawned() -> str:
    """Each ray makes a reflected and a refracted one."""
    drawing = Drawing()
    for name, start, end in (
        ("C", (30, 24), (150, 90)),
        ("C_r", (150, 90), (270, 24)),
        ("C_t", (150, 90), (220, 160)),
        ("C_r", (220, 160), (330, 110)),
        ("C_t", (220, 160), (300, 230)),
    ):
        drawing.arrow(start, end)
        drawing.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - 7, name, 11)
    for y, left in ((90, 60), (160, 130)):
        drawing.line((left, y), (left + 190, y), color=SOFT)
    return drawing.document(360, 244, "rays that a ray makes")


def _at_surface(title: str, components: bool, reflection: bool) -> str:
    """The tracer's own rays at a surface: reflected, or refracted with its angles or its components."""
    (_, up), (_, down) = directions(ANGLE)
    drawing, long, middle = Drawing(), 110.0, np.array([180.0, 130.0])
    turn = math.radians(ANGLE)
    arriving = np.array([math.sin(turn), -math.cos(turn), 0.0])
    drawing.box(20, middle[1], 320, 110, SHADES[0], SOFT)
    drawing.line((middle[0], 14), (middle[0], 240), color=SOFT, dashed=True)

    def end(direction: NDArray, sign: float = 1.0) -> Point:
        x, y = middle + sign * long * np.array([direction[0], -direction[1]])
        return float(x), float(y)

    centre = tuple(middle)
    drawing.arrow(end(arriving, -1.0), centre)
    leaving = up if reflection else down
    drawing.arrow(centre, end(leaving))
    drawing.text(end(arriving, -1.0)[0] - 4, end(arriving, -1.0)[1] - 6, "d", 12)
    drawing.text(end(leaving)[0] + 6, end(leaving)[1], "r" if reflection else "t", 12)
    if components:
        for tip, sign in ((end(arriving, -1.0), "d"), (end(leaving), "t")):
            drawing.line(tip, (tip[0], float(middle[1])), dashed=True)
            drawing.line((tip[0], float(middle[1])), centre, dashed=True)
            drawing.text(tip[0] + 4, (tip[1] + middle[1]) / 2, f"{sign} along n", 10, SOFT)
    else:
        other = math.degrees(math.acos(abs(float(leaving[1]))))
        drawing.text(middle[0] - 60, 60, f"{ANGLE:g}\N{DEGREE SIGN}", 11)
        place = (middle[0] + 34, 60) if reflection else (middle[0] + 8, 220)
        drawing.text(*place, f"{other:.1f}\N{DEGREE SIGN}", 11)
    return drawing.document(360, 252, title)


def draw_escape() -> str:
    """The lower tree in depth-first order, and from each node, dotted, where a ray goes on that misses its box."""
    model: Model = small()
    escape = model.links[:, 0].tolist()
    step, y = 74.0, 120.0
    drawing = Drawing()
    for node, other in enumerate(escape):
        x, leaf = 40 + step * node, model.links[node, 2] > 0
        drawing.ellipse(x, y, 15, 15, str(node), 11, SHADES[1] if leaf else SHADES[0])
        if leaf:
            drawing.text(x, y + 32, f"triangle {model.numbers[model.links[node, 1]]}", 9.5, SOFT, True)
        if node + 1 < len(escape):
            drawing.arrow((x + 15, y), (x + step - 15, y))
        if not leaf:
            tall, end = 20.0 + 11 * (len(escape) - node), 40 + step * min(other, len(escape))
            drawing.arrow((x, y - 15), (x, y - tall), (end, y - tall), (end, y - 15), dashed=True)
    end = 40 + step * len(escape)
    drawing.text(end, y + 4, "end", 11, middle=True)
    return drawing.document(end + 40, y + 44, "traversal by escape indices")


OURS = "Our own drawing: of the printed one the caption is at hand."
DRAWINGS: dict[str, Callable[[], str]] = {
    "2.1": draw_rays,
    "2.3": draw_acceleration,
    "2.4": draw_streams,
    "2.5": draw_pipeline,
    "2.6": draw_fragment_processor,
    "4.1": partial(draw_fragment_processor, True),
    "4.2": draw_invocations,
    "4.3": draw_lookup,
    "6-1": draw_modules,
    "6-2": partial(draw_modules, True),
    "6-3": draw_structure,
    "6-4": draw_barycentric,
    "6-7": draw_spawned,
    "6-8": partial(_at_surface, "specular reflection", False, True),
    "6-9": partial(_at_surface, "Snell's law", False, False),
    "6-10": partial(_at_surface, "vector components", True, False),
    "6-14": draw_escape,
}


def figures(chapter: str) -> Iterator[Figure]:
    """Those whose number begins so: ``2.`` or ``4.`` of D, ``6-`` of T."""
    for number, draw in DRAWINGS.items():
        if number.startswith(chapter):
            figure = captioned(number, svg=draw(), index=INDEX)
            yield replace(figure, note=f"{figure.note} {OURS}")
