"""What an estimate draws: when roulette ends a path, and that no two choices hang on one random number."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest
from glsl_call import Function

from raystream import Camera
from raystream.cameras.lens import thin_lens
from raystream.kernels.records import RAY
from raystream.lighting.path import path_settings
from raystream.lighting.sampler import sampler
from raystream.scene.light import Light

INSIDE = Camera((0.1, 0.2, 0.3), (-1, 0.3, -0.8), fov=80)
ONE: dict[str, Any] = {
    "machine": "singlepass", "sampler": "independent", "strategy": "bsdf", "environment": "none"
}  # fmt: skip


@pytest.mark.parametrize(("roulette", "values"), [(1, {1.0, 1.70711}), (2, {1.5})])
def test_roulette_begins_after_as_many_surfaces_as_it_is_told(device, roulette: int, values: set[float]) -> None:
    """In a closed room that shines with 1 and reflects a half, over one surface: 1 and a half; where roulette decides
    at that surface, by the root of what it reflects, 1, or in 0.71 of all cases 1 and 0.5 / 0.71."""
    room = places.alone(places.box(inwards=True), places.material(0.5, shines=1.0), INSIDE)
    found = places.film(room, (24, 24), 1, depth=1, roulette=roulette, **ONE).mean()[..., 0]
    assert (
        set(np.round(found.ravel().astype(float), 5).tolist()) == values
    )  # five digits: a product and a quotient of float32
    if roulette == 1:
        # 576 tosses of a coin that falls on one side in 0.71 of all cases: 4.5 standard errors.
        assert abs(found.mean() - 1.5) < 4.5 * 0.322 / 24


def test_a_lens_and_the_film_have_numbers_of_their_own(device) -> None:
    """The places on the film and on the lens of 4,096 samples: no coordinate of one tells anything of the other's."""
    size = (1, 1)
    camera = Camera((0, 0, 0), (0, 0, -1), fov=90, aperture=0.5, focus=1.0)
    modules = [sampler("independent", 5), path_settings(), thin_lens(camera, size)]
    first_ray = Function(
        device, "Ray first_ray(ivec2 pixel, int number)", ["lib/first_ray.glsl"], modules, records=[RAY]
    )
    count = 4096
    (rays,) = first_ray(np.zeros((count, 2)), np.arange(count))
    lens = rays["origin"][:, :2].astype(np.float64)
    sharp = rays["origin"] + rays["direction"] / -rays["direction"][:, 2:]  # in the plane of focus: the film's place
    tables = [lens, sharp[:, :2].astype(np.float64)]
    assert all(table.std(axis=0).min() > 0.1 for table in tables)
    both = np.corrcoef(np.hstack(tables).T)
    assert np.abs(both[:2, 2:]).max() < 4.5 / np.sqrt(count)
    # Nor their absolute values: a disc of the same square would show in them.
    assert np.abs(np.corrcoef(np.abs(np.hstack(tables)).T)[:2, 2:]).max() < 4.5 / np.sqrt(count)


@pytest.mark.parametrize("turned", [False, True])
def test_a_bounce_has_numbers_of_its_own(device, turned: bool) -> None:
    """The light that a path asks at its second surface has nothing to do with the way that it took there.

    From the middle of a floor paths go left or right by one random number (or, turned by a right angle, by another), to
    two walls that face each other. Before each wall hangs a spot that lights it alone, as bright as the other: whoever
    asks by the number that led to a wall asks always the wall's own spot, or always the other's. Twice the light, or
    none.
    """
    turn = np.float32([[0, 0, 1], [0, 1, 0], [-1, 0, 0]] if turned else np.eye(3))
    floor = places.quads(np.array([[[-1, 0, 1], [1, 0, 1], [1, 0, -1], [-1, 0, -1]]])) * np.float32([0.02, 1, 0.02])
    left = places.quads(np.array([[[-1, 0, 1], [-1, 0, -1], [-1, 9, -1], [-1, 9, 1]]])) * np.float32([1, 1, 9])
    right = left[:, ::-1] * np.float32([-1, 1, 1])
    lamps = [
        Light("spot", name, (0.0, 3.0, 0.0), tuple(turn @ (x, 0.0, 0.0)), (20.0, 20.0, 20.0), 1.0, 1.5)
        for name, x in (("a", -1.0), ("b", 1.0))
    ]
    meshes = [places.flat(each @ turn.T) for each in (floor, left, right)]
    above = Camera((0.0, 0.5, 0.0), (0, 0, 0), (0, 0, -1), fov=2.0)
    scene = places.scene(meshes, [places.material(0.8)], above, lights=lamps)
    options = {**ONE, "strategy": "lights", "depth": 2, "light_candidates": 1}
    found = places.film(scene, (16, 16), 16, seed=1, **options)
    alone = 0.0  # each lamp without a choice is a half of the picture
    for lamp in lamps:
        one = places.scene(meshes, [places.material(0.8)], above, lights=[lamp])
        alone += float(places.film(one, (16, 16), 16, seed=2, **options).mean()[..., 0].mean())
    error = float(np.sqrt(found.variance().mean() / 256))
    assert alone > 0.01 and abs(float(found.mean()[..., 0].mean()) - alone) < 6 * error + 1e-5
