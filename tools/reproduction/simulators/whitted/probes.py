"""Single rays asked of the thesis's tracer: nodes that one is tested against, directions and shares by its shading."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.scene.material import ClassicMaterial, Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from reproduction.simulators.whitted import loops
from reproduction.simulators.whitted.model import Model, build

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


def directions(angle: float, inside: bool = False, **fields: Any) -> list[tuple[NDArray, NDArray]]:
    """Origins and directions of the rays that leave a pane at the origin, met at so many degrees from its normal +y:
    from the tracer's own shading. inside: from below."""
    shares: dict[str, Any] = {"bias": 0.2, "scale": 0.0, "reflectivity": 1.0, "transmittance": 1.0}
    own = ClassicMaterial(**shares, indices=(INDEX, INDEX, INDEX), **fields)
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


def share(cosine: float, bias: float, scale: float, power: float) -> float:
    """R_f (6.3) by the tracer's own shading, of light from outside."""
    material = np.array([[bias, scale, power]], np.float32)
    return float(loops.fresnel(material, 0, np.float32(cosine), np.float32(1 / INDEX)))
