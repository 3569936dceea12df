"""The irradiance cache: against a dictionary of cells, and what it must and must not mix."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from viewer.denoise import irradiance_cache
from viewer.denoise.irradiance_cache import WIDE, IrradianceCache
from viewer.denoise.irradiance_cache_loops import LEAST_SHARE
from viewer.denoise.view import view_uniforms
from viewer.scene.camera import Camera

CAMERA = Camera((0.3, 0.2, 5.0), (0.0, 0.0, 0.0), fov=50)
SIZE = 24, 16
PIXEL = math.hypot(*view_uniforms(CAMERA, SIZE)["view_down"])
FINEST = 1e9  # an error that any sample is within: no wider cells are asked


def wall(normal: tuple[float, float, float] = (0.0, 0.0, 1.0), depth: float = 5.0) -> NDArray[np.float32]:
    """(H, W, 4): surfaces at a depth along the view's axis."""
    made = np.zeros((*SIZE[::-1], 4), np.float32)
    made[..., :3] = np.array(normal) / np.linalg.norm(normal)
    made[..., 3] = 1 / depth
    return made


def light(value: NDArray | float) -> NDArray[np.float32]:
    made = np.zeros((*SIZE[::-1], 4), np.float32)
    made[..., :3] = np.asarray(value)[..., None] if np.ndim(value) else value
    return made


def places(surfaces: NDArray) -> NDArray[np.float64]:
    corner, across, down = (np.array(axis) for axis in view_uniforms(CAMERA, SIZE).values())
    row, column = np.mgrid[: SIZE[1], : SIZE[0]][..., None].astype(np.float64)
    towards = corner + column * across + row * down
    return np.array(CAMERA.origin) + towards / surfaces[..., 3:].astype(np.float64)


def test_light_is_that_of_the_cells_around() -> None:
    """Of a wall that faces between two axes: a dictionary of cells, read between their middles."""
    rng = np.random.default_rng(2)
    cache, surfaces = IrradianceCache(FINEST), wall((0.6, 0.0, 0.8))
    shone = light(rng.gamma(0.5, 2.0, SIZE[::-1]))
    cache.add(surfaces, shone, CAMERA, 3, PIXEL)
    found = cache.find(surfaces, CAMERA, PIXEL)
    width = 2.0 ** math.floor(math.log2(WIDE * PIXEL * 5.0))
    cells: dict[tuple[int, ...], NDArray] = defaultdict(lambda: np.zeros(2))
    facing = {1: 0.36, 2: 0.64}
    at, value = places(surfaces).reshape(-1, 3), shone[..., 0].ravel().astype(np.float64)
    for point, each in zip(at, value, strict=True):
        for way, share in facing.items():
            cells[(way, *np.floor(point / width).astype(int))] += 3 * share * np.array([each, 1])
    for point, got in zip(at, found.reshape(-1, 5), strict=True):
        low, total = np.floor(point / width - 0.5), np.zeros(2)
        part = point / width - 0.5 - low
        for corner in np.ndindex(2, 2, 2):
            near = np.prod(np.where(corner, part, 1 - part))
            for way, share in facing.items():
                if near >= LEAST_SHARE and (key := (way, *(low + corner).astype(int))) in cells:
                    total += near * share * cells[key]
        # float32 knows a nearness, and so a place, to seven digits: at a cell's rim a point may be on either side
        assert got[0] == pytest.approx(total[0] / total[1], rel=0.02)
        assert got[3] == pytest.approx(total[1], rel=0.02)


def test_the_mean_of_many_pictures_is_found_and_its_variance() -> None:
    rng, cache, surfaces = np.random.default_rng(5), IrradianceCache(), wall()
    for _ in range(40):
        cache.add(surfaces, light(np.where(rng.random(SIZE[::-1]) < 0.2, 5.0, 0.0)), CAMERA, 1, PIXEL)
    found = cache.find(surfaces, CAMERA, PIXEL)[4:-4, 4:-4]
    assert (found[..., 3] > 60).all()
    deviations = (found[..., 0] - 1.0) / np.sqrt(4.0 / found[..., 3])  # of a mean; one sample's variance is 4
    assert np.abs(deviations).max() < 4.5  # 128 points
    assert found[..., 4].mean() == pytest.approx(4.0, rel=0.1)


def test_few_samples_ask_wider_cells() -> None:
    rng, cache, finest, surfaces = np.random.default_rng(6), IrradianceCache(), IrradianceCache(FINEST), wall()
    noisy = light(rng.gamma(0.5, 2.0, SIZE[::-1]))
    for each in (cache, finest):
        each.add(surfaces, noisy, CAMERA, 1, PIXEL)
    wide, fine = (each.find(surfaces, CAMERA, PIXEL) for each in (cache, finest))
    assert wide[..., 3].mean() > 4 * fine[..., 3].mean()
    assert wide[..., 0].std() < 0.5 * fine[..., 0].std()


def test_neither_sides_of_a_wall_nor_what_lies_behind_are_mixed() -> None:
    cache, front, back = IrradianceCache(), wall(), wall((0.0, 0.0, -1.0))
    cache.add(front, light(1.0), CAMERA, 1, PIXEL)
    cache.add(back, light(7.0), CAMERA, 1, PIXEL)
    np.testing.assert_allclose(cache.find(front, CAMERA, PIXEL)[..., :3], 1.0, rtol=1e-5)
    np.testing.assert_allclose(cache.find(back, CAMERA, PIXEL)[..., :3], 7.0, rtol=1e-5)
    behind = cache.find(wall(depth=40.0), CAMERA, PIXEL)
    assert (behind[..., 3] == 0).all() and (behind[..., :3] == 0).all()


def test_another_camera_finds_the_same_place() -> None:
    """Light that grows along x, seen from elsewhere."""
    cache, surfaces = IrradianceCache(FINEST), wall()
    for _ in range(2):
        cache.add(surfaces, light(3 + places(surfaces)[..., 0]), CAMERA, 1, PIXEL)
    aside = Camera((0.9, 0.2, 5.0), (0.6, 0.0, 0.0), fov=50)
    corner, across, down = (np.array(axis) for axis in view_uniforms(aside, SIZE).values())
    row, column = np.mgrid[: SIZE[1], : SIZE[0]][..., None].astype(np.float64)
    towards = corner + column * across + row * down
    forward = np.array(CAMERA.basis()[2])
    depth = (places(surfaces)[0, 0] - aside.origin) @ forward / (towards @ forward)  # to the same plane
    seen = surfaces.copy()
    seen[..., 3] = 1 / depth
    found = cache.find(seen, aside, PIXEL)
    x = (np.array(aside.origin) + towards * depth[..., None])[..., 0]
    there = found[..., 3] > 1
    assert there.mean() > 0.5
    assert np.abs(found[..., 0] - 3 - x)[there].max() < 2 * WIDE * PIXEL * 5.0  # a cell


def test_what_is_no_number_and_what_is_no_surface_is_left_out() -> None:
    cache, surfaces, shone = IrradianceCache(), wall(), light(2.0)
    shone[3, 4, 1], shone[5, 6, 0] = np.nan, np.inf
    surfaces[8:] = 0.0
    cache.add(surfaces, shone, CAMERA, 1, PIXEL)
    found = cache.find(surfaces, CAMERA, PIXEL)
    np.testing.assert_allclose(found[:8, :, :3], 2.0, rtol=1e-5)
    assert (found[8:] == 0).all()


def test_it_forgets_when_asked_and_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, surfaces = IrradianceCache(FINEST), wall()
    cache.add(surfaces, light(2.0), CAMERA, 1, PIXEL)
    cells = cache.cells
    assert cells > 0
    cache.forget()
    assert cache.cells == 0 and (cache.find(surfaces, CAMERA, PIXEL) == 0).all()
    monkeypatch.setattr(irradiance_cache, "ROOM", cells // 2)
    cache.add(surfaces, light(2.0), CAMERA, 1, PIXEL)
    assert cache.cells == cells // 2  # no more than there is room for
    cache.add(wall((0.0, 0.0, -1.0)), light(3.0), CAMERA, 1, PIXEL)
    assert (cache.find(surfaces, CAMERA, PIXEL)[..., 3] == 0).all()  # all was forgotten for the new ones


def test_a_part_of_a_large_picture_s_pixels_is_kept_each_time_another_one() -> None:
    cache, surfaces = IrradianceCache(FINEST), wall()
    values = np.arange(SIZE[0] * SIZE[1], dtype=np.float64).reshape(SIZE[::-1])
    taken = set()
    for _ in range(4):
        cache.forget()
        cache.add(surfaces, light(1.0), CAMERA, 1, PIXEL, stride=2)
        found = cache.find(surfaces, CAMERA, PIXEL)
        taken.add(float(found[..., 3].sum()))
        assert found[..., 3].sum() == pytest.approx(0.25 * values.size * 2, rel=0.6)  # by how cells lie
    assert len(taken) == 4
