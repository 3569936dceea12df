"""Drawings for the thesis: its structure and its arrays, its vectors, its kernels, each from what the back ends run."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.scene.material import ClassicMaterial, Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from reproduction.simulators import whitted
from reproduction.simulators.whitted import loops
from reproduction.simulators.whitted.model import Model, build

from .drawing import PAPER, SHADES, SOFT, Drawing
from .plots import figure, svg

STEP, LEVEL, CELL = 58, 46, 22
MET, LEAF, MISSED = SHADES[0], SHADES[1], PAPER
ANGLE = 50.0  # degrees of incidence
INDEX = 1.5
SCHLICK = (0.04, 0.96, 5.0)  # bias, scale and power nearest to Fresnel's equations at `INDEX`


def small() -> Model:
    """Three instances of four triangles."""
    at = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    places = np.array([[0, 0, 0], [1.1, 0.1, 0.2], [0.1, 1.2, 0.4], [1.3, 1.1, 0.6]], np.float32)
    mesh = Mesh((at[None] + places[:, None]).reshape(-1, 3), np.arange(12, dtype=np.int32).reshape(4, 3), name="leaves")
    maps = [np.eye(4) for _ in range(3)]
    for number, each in enumerate(maps):
        each[0, 3] = 3.0 * number
    own = Material("plain", kind="classic", classic=ClassicMaterial())
    return build(Scene([mesh], [Instance(0, each) for each in maps], [own], name="small"))


def visited(model: Model, ray: NDArray[np.float32]) -> tuple[list[int], dict[int, list[int]]]:
    """The top nodes that a ray (6,) is tested against, and by instance those of its object."""
    top, below, node = [], {}, 0
    inverse = [loops.inverted(each) for each in ray[3:]]
    with np.errstate(all="ignore"):
        while node < len(model.top_links):
            top.append(node)
            escape, instance = model.top_links[node]
            met = loops.enters(model.top_boxes, node, *ray[:3], *inverse, loops.FAR)
            node = node + 1 if met else int(escape)
            if met and instance >= 0:
                rows = model.instances[instance].reshape(3, 4)
                local = rows[:, :3] @ (ray[:3] - rows[:, 3]), rows[:, :3] @ ray[3:]
                own = [loops.inverted(each) for each in local[1]]
                at, seen = int(model.roots[instance, 0]), []
                while at < len(model.links):
                    seen.append(at)
                    met_too = loops.enters(model.boxes, at, *local[0], *own, loops.FAR)
                    at = at + 1 if met_too and model.links[at, 2] == 0 else int(model.links[at, 0])
                below[int(instance)] = seen
    return top, below


def draw_structure() -> str:
    """Two levels in depth-first order: trees, their arrays, and the nodes that a ray is tested against."""
    model = small()
    ray = np.array([3.4, 0.3, -5.0, 0.02, 0.01, 1.0], np.float32)
    ray[3:] /= np.linalg.norm(ray[3:])
    top, below = visited(model, ray)
    drawing = Drawing()
    names = {k: f"instance {i}" for k, i in enumerate(model.top_links[:, 1].tolist()) if i >= 0}
    width = _tree(drawing, "over instances", model.top_links[:, 0], names, top, 14)
    number = next(iter(below))
    leaves = {
        k: f"triangle {model.numbers[first]}" for k, (_, first, count) in enumerate(model.links.tolist()) if count
    }
    height = 46 + 3 * LEVEL + 3 * CELL
    text = f"over triangles of the object; tested: those of instance {number}"
    width = max(width, _tree(drawing, text, model.links[:, 0], leaves, below[number], 24 + height))
    return drawing.document(width + 20, 2 * height + 30, "two levels by escape indices")


def _tree(
    drawing: Drawing, title: str, escape: NDArray[np.int32], leaves: dict[int, str], seen: list[int], top: float
) -> float:
    """A tree above its array; returns the drawing's width."""
    count = len(escape)
    ends: list[int] = []
    depths: list[int] = []
    for node in range(count):
        while ends and node >= ends[-1]:
            ends.pop()
        depths.append(len(ends))
        if node not in leaves:
            ends.append(int(escape[node]))
    drawing.text(12, top + 8, title, 12)
    places = [(60 + STEP * (node + 0.5), top + 30 + LEVEL * depths[node]) for node in range(count)]
    for node in range(count):
        for child in () if node in leaves else (node + 1, int(escape[node + 1])):
            drawing.line(places[node], places[child], color=SOFT)
    for node, (x, y) in enumerate(places):
        shade = (LEAF if node in leaves else MET) if node in seen else MISSED
        drawing.ellipse(x, y, 13, 13, str(node), 11, shade)
    y = top + 46 + LEVEL * (max(depths) + 1) - LEVEL / 2
    names = [leaves.get(k, "").replace("instance", "inst.") for k in range(count)]
    for name, cells in (("node", range(count)), ("escape", escape), ("leaf", names)):
        drawing.text(8, y + 15, name, 11, SOFT)
        drawing.cells(60, y, STEP, CELL, [(str(each), -1) for each in cells], 9.5 if name == "leaf" else 11)
        y += CELL
    return 60 + STEP * count


def directions(angle: float, inside: bool = False, **fields: Any) -> list[tuple[NDArray, NDArray]]:
    """Origins and directions of the rays that leave a pane at the origin, met at so many degrees from its normal +y:
    from the tracer's own shading. inside: from below."""
    own = ClassicMaterial(
        bias=0.2, scale=0.0, reflectivity=1.0, transmittance=1.0, indices=(INDEX, INDEX, INDEX), **fields
    )
    points = np.array([[-9, 0, 9], [9, 0, 9], [0, 0, -9]], np.float32)
    material = Material("pane", kind="classic", classic=own)
    model = build(Scene([Mesh(points, np.array([[0, 1, 2]], np.int32))], [Instance(0)], [material], name="pane"))
    turn = math.radians(angle)
    along = np.array([math.sin(turn), math.cos(turn) if inside else -math.cos(turn), 0.0], np.float32)
    rays, children = np.zeros((1, loops.COLUMNS), np.float32), np.zeros((4, loops.COLUMNS), np.float32)
    rays[0] = *(-along), *along, 1.0, 1.0, 1.0, -1.0, 0.0, 0.0
    with np.errstate(all="ignore"):
        made = loops.shade(model.surface, rays, 0, np.float32(1.0), 0, children, 0, np.zeros((1, 3), np.float32), 0)
    return [(each[:3].astype(np.float64), each[3:6].astype(np.float64)) for each in children[:made]]


def draw_vectors() -> str:
    """Reflection, refraction into and out of glass, total reflection, and a sheet of some thickness."""
    critical = math.degrees(math.asin(1 / INDEX))
    panels = {
        f"into glass, {ANGLE:g}°": (ANGLE, False, {}),
        "out of it, 30°": (30.0, True, {}),
        f"beyond {critical:.1f}°": (ANGLE, True, {}),
        "a sheet": (ANGLE, False, {"thickness": 0.5}),
    }
    drawing, axes = figure(9.0, 2.7, ncols=len(panels))
    for axis, (title, (angle, inside, fields)) in zip(axes, panels.items(), strict=True):
        turn = math.radians(angle)
        start = np.array([-math.sin(turn), -math.cos(turn) if inside else math.cos(turn)])
        low = -fields["thickness"] if fields else -1.2
        axis.axhspan(low, 0, color="#dbe8f5")
        axis.plot([0, 0], [-1.1, 1.1], color="#9aa4b0", linewidth=0.8, linestyle=":")
        axis.annotate("", (0, 0), start, arrowprops={"arrowstyle": "->", "color": "#1d232b"})
        for number, (origin, way) in enumerate(directions(angle, inside, **fields)):
            color = ("#d1772e", "#3f8f4f")[number]
            axis.annotate("", origin[:2] + way[:2], origin[:2], arrowprops={"arrowstyle": "->", "color": color})
            if number and fields:
                axis.plot([0, origin[0]], [0, origin[1]], color=color, linestyle="--", linewidth=1.0)
        axis.set(xlim=(-1.2, 1.4), ylim=(-1.2, 1.2), aspect="equal", title=title, xticks=[], yticks=[])
        axis.grid(False)
    return svg(drawing)


def share(cosine: float, bias: float, scale: float, power: float) -> float:
    """R_f (6.3) by the tracer's own shading, of light from outside."""
    material = np.array([[bias, scale, power]], np.float32)
    return float(loops.fresnel(material, 0, np.float32(cosine), np.float32(1 / INDEX)))


def draw_tree(levels: Sequence[Mapping[str, Sequence[Any]]]) -> str:
    """The rays of a pixel level by level, as of `thesis_measures.tree`: lines from parents, weights in the circles."""
    width = 60 + STEP * max(len(each["parent"]) for each in levels)
    drawing, places = Drawing(), []
    for number, each in enumerate(levels):
        count = len(each["parent"])
        places.append([(60 + (width - 60) * (k + 0.5) / count, 24 + 1.2 * LEVEL * number) for k in range(count)])
        drawing.text(4, places[-1][0][1] + 4, f"level {number}", 10, SOFT)
        for k, parent in enumerate(each["parent"] if number else ()):
            drawing.line(places[-2][parent], places[-1][k], dashed=bool(each["refracted"][k]))
    for row, each in zip(places, levels, strict=True):
        for (x, y), weight, missed in zip(row, each["weight"], each["missed"], strict=True):
            drawing.ellipse(x, y, 24, 13, f"{weight:.2g}", 10.5, SHADES[0] if missed else PAPER)
    return drawing.document(width + 10, places[-1][0][1] + 24, "the rays of a pixel")


def kernels() -> list[str]:
    """The names of the OpenCL program's kernels, in its order."""
    source = (Path(whitted.__file__).parent / "tracer.cl").read_text(encoding="utf-8")
    return re.findall(r"__kernel void (\w+)\(", source)


def draw_kernels() -> str:
    """Figure 6-16: the four kernels and the host's turn."""
    primary, intersector, miss, hit = kernels()
    places = {
        primary: (20, 70),
        intersector: (210, 70),
        "host: sorts by hits": (400, 70),
        miss: (610, 20),
        hit: (610, 120),
    }
    drawing = Drawing()
    for name, (x, y) in places.items():
        drawing.named(x, y, 140, 40, name.replace("_", " "), fill=SHADES[5 if name.startswith("host") else 0])
    for (x0, y0), (x1, y1), text in (
        ((160, 90), (210, 90), "rays"),
        ((350, 90), (400, 90), "hits"),
        ((540, 80), (610, 40), "missed"),
        ((540, 100), (610, 140), "hit"),
        ((750, 40), (800, 40), "layer"),
        ((750, 140), (800, 140), "layer"),
    ):
        drawing.arrow((x0, y0), (x1, y1))
        drawing.text((x0 + x1) / 2, (y0 + y1) / 2 - 6, text, 10, SOFT, True)
    drawing.arrow((680, 160), (680, 185), (280, 185), (280, 110))
    drawing.text(480, 180, "reflected and refracted rays: the next level", 10, SOFT, True)
    return drawing.document(850, 200, "the four kernels")
