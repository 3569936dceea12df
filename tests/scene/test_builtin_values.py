"""The built-in scenes by value: numbers that move with any mesh, place, camera, light or material of theirs.

Pictures are published of them. Where one is meant to change, these numbers are taken anew by `numbers_of`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raystream.scene import builtin
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

VALUES = {
    "cornell": (1.075016301e11, 19.23984962, 1219.86659, 0, 68.13681455),
    "teapotahedron": (57668.55146, 47.89085213, 49.75335714, 227.8135177, 402.310128),
    "forest": (103001377, 14181.03834, 200.8584025, 0, 46.46293591),
    "building": (1981835.547, 7918.686374, 94.38907143, 0, 142.9152072),
    "stadium": (42191092.93, 4.69845447, 33.46069048, 0, 65.23475257),
    "balls": (5.751939196, 10.02764217, 36.19092857, 314.4360134, 290.2513895),
    "glass_ball": (0.4441374707, 2.76773183, 11.65184286, 0, 65.96239803),
    "ring": (1.367101294, 4.69845447, 13.0722, 0.3027803227, 29.49240618),
    "cornell_photons": (8.97102848e10, 19.23984962, 736.7139707, 0, 109.3272128),
    "hall": (206937.7295, 148.4738596, 31.93357143, 0, 77.13826942),
    "prism": (-0.3624797875, 7.244360902, 13.00077195, 6.030969162, 46.01534305),
    "sphere": (4038.252615, 1.385526316, 15.84504762, 0, 22.90587066),
    "chair": (5868.034617, 14.70307475, 13.24779762, 0.9097223192, 32.13343314),
    "palm_pc": (5106.31831, 12.13300437, 15.29260714, 20.19139648, 104.7957389),
    "knife": (1453.942311, 0.4851712615, 15.44760476, 15.24200254, 63.04455887),
    "jet": (137157.8618, 0.4851712615, 33.54428571, 0.7836503093, 57.16620061),
    "palace": (885357.258, 238.2459029, 42.2847619, 0.7234191922, 55.38861238),
    "helicopter": (2227070.122, 6.703766158, 34.70559524, 0.7408850088, 62.72546777),
}


def weighed(rows: list[list[float]]) -> float:
    """A sum in which each number of each row counts by another weight, so that none stands for another."""
    found = 0.0
    for k, row in enumerate(rows):
        found += (1.0 + 0.1 * (k % 97)) * sum(value / (3.0 + j) for j, value in enumerate(row))
    return found


def shapes_of(scene: Scene) -> list[list[float]]:
    """Of each mesh its area, and moments of the area of first and second order; of a quadric its map."""
    rows = []
    for mesh in scene.meshes:
        if isinstance(mesh, Quadric):
            rows.append(np.ravel(mesh.maps).tolist())
            continue
        a, b, c = mesh.positions.astype(np.float64)[mesh.triangles].transpose(1, 0, 2)
        area, centre = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2, (a + b + c) / 3
        area = area * (1.0 + 0.1 * mesh.materials)
        rows.append([area.sum(), *(area @ centre), *(area @ centre**2), *(mesh.normals.astype(np.float64).sum(axis=0))])
        if mesh.colors is not None:
            rows.append(mesh.colors.astype(np.float64).sum(axis=0).tolist())
    return rows


def fields_of(parts: object) -> list[list[float]]:
    """The numbers in dataclasses, field by field."""

    def flat(value: object) -> list[float]:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return [number for each in dataclasses.fields(value) for number in flat(getattr(value, each.name))]
        if isinstance(value, (bool, int, float, np.ndarray, tuple, list)):
            found = np.ravel(np.array(value, dtype=object)).tolist()
            return [float(number) for number in found if isinstance(number, (bool, int, float)) and np.isfinite(number)]
        return []

    return [flat(part) for part in parts]  # type: ignore[attr-defined]


def numbers_of(scene: Scene) -> list[float]:
    """Of shapes, places, cameras, lights and materials."""
    places = [[float(each.mesh), *np.ravel(each.transform).tolist(), each.material or 0] for each in scene.instances]
    parts = [fields_of(each) for each in (scene.cameras, scene.lights, scene.materials)]
    return [weighed(rows) for rows in (shapes_of(scene), places, *parts)]


@pytest.mark.parametrize("name", builtin.names())
def test_a_scene_is_as_it_was(name: str) -> None:
    """To a millionth: processors and builds of NumPy differ by rounding of a sine in float32, by 4e-7 of a sum, and
    a part of a building by more."""
    np.testing.assert_allclose(numbers_of(builtin.build(name)), VALUES[name], rtol=1e-6, atol=1e-9)
