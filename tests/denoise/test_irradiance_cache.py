"""The irradiance cache on the device: against its twin, and what it must and must not mix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from alike_twin import through
from cache_twin import CacheTwin
from numpy.typing import NDArray

from viewer.denoise import irradiance_cache
from viewer.denoise.irradiance_cache import LIFETIME, WIDE, IrradianceCache
from viewer.denoise.records import KNOWN, LIT
from viewer.denoise.view import view_uniforms
from viewer.scene.camera import Camera
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream

CAMERA = Camera((0.3, 0.2, 5.0), (0.0, 0.0, 0.0), fov=50)
SIZE = 24, 16
PIXEL = float(np.linalg.norm(view_uniforms(CAMERA, SIZE)["view_down"]))
MIDDLE = np.array([0.0, 0.0, 0.1])  # not where cells meet
FINEST = 1e9  # an error that any sample is within: no wider cells are asked


class Kept:
    """A cache whose pictures are records."""

    def __init__(self, device: Device, *settings: float) -> None:
        self.device, self.cache = device, IrradianceCache(device, *settings)
        self._streams: dict[tuple[int, int], tuple[Stream, Stream]] = {}

    def _lit(self, lit: NDArray) -> tuple[Stream, Stream]:
        size = lit.shape[::-1]
        if size not in self._streams:
            self._streams[size] = Stream(self.device, LIT, size), Stream(self.device, KNOWN, size)
        self._streams[size][0].write(lit)
        return self._streams[size]

    def add(self, lit: NDArray, camera: Camera = CAMERA, samples: int = 1) -> None:
        self.cache.add(self._lit(lit)[0], camera, samples)

    def find(self, lit: NDArray, camera: Camera = CAMERA) -> NDArray:
        """(H, W, 5): light, samples, and the variance of one."""
        stream, known = self._lit(lit)
        self.cache.find(stream, camera, known)
        found = known.read()
        return np.concatenate([found["rgb"], found["samples"][..., None], found["variance"][..., None]], axis=-1)

    def release(self) -> None:
        self.cache.release()
        for pair in self._streams.values():
            for stream in pair:
                stream.release()


@pytest.fixture
def kept(device: Device) -> Iterator[Callable[..., Kept]]:
    made: list[Kept] = []

    def make(*settings: float) -> Kept:
        made.append(Kept(device, *settings))
        return made[-1]

    with device.current():
        yield make
        for each in made:
            each.release()


def wall(normal: tuple[float, float, float] = (0.0, 0.0, 1.0), light: NDArray | float = 0.0) -> NDArray:
    """Records of `LIT`: a plane through `MIDDLE` that faces so, before `CAMERA`."""
    made = np.zeros(SIZE[::-1], LIT.dtype)
    made["normal"] = np.array(normal) / np.linalg.norm(normal)
    towards = through(CAMERA, SIZE)[0]
    made["nearness"] = (towards @ made["normal"][0, 0]) / ((MIDDLE - CAMERA.origin) @ made["normal"][0, 0])
    made["rgb"] = np.asarray(light)[..., None] if np.ndim(light) else light
    return made


def places(lit: NDArray, camera: Camera = CAMERA) -> NDArray[np.float64]:
    return np.array(camera.origin) + through(camera, SIZE)[0] / lit["nearness"][..., None].astype(float)


@pytest.mark.parametrize("error", [FINEST, 0.15])
@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (0.5, -0.4, 0.6)])
def test_light_is_that_of_the_twin(kept: Callable[..., Kept], normal: tuple[float, float, float], error: float) -> None:
    """A dictionary of cells, in float64."""
    rng = np.random.default_rng(2)
    cache, twin, lit = kept(error), CacheTwin(error), wall(normal)
    lit["normal"][:, 15:], lit["nearness"][:, 15:] = wall()["normal"][:, 15:], 0.3  # and another wall before it
    for samples in (1, 3):
        lit["rgb"] = rng.gamma(0.5, 2.0, (*SIZE[::-1], 3))
        cache.add(lit, samples=samples)
        twin.add(lit, CAMERA, samples)
    found, expected = cache.find(lit), twin.find(lit, CAMERA)
    assert (expected[..., 3] > 0).mean() > 0.9
    # float32 knows a nearness, and so a place, to seven digits: at a cell's rim a point may be on either side
    off = np.abs(found - expected) > 2e-3 * (1 + np.abs(expected))
    assert off.any(axis=-1).mean() < 0.03


def test_the_mean_of_many_pictures_is_found_and_its_variance(kept: Callable[..., Kept]) -> None:
    rng, cache = np.random.default_rng(5), kept()
    for _ in range(40):
        cache.add(wall(light=np.where(rng.random(SIZE[::-1]) < 0.2, 5.0, 0.0)))
    found = cache.find(wall())[4:-4, 4:-4]
    assert (found[..., 3] > 20).all()
    deviations = (found[..., 0] - 1.0) / np.sqrt(4.0 / found[..., 3])  # of a mean; one sample's variance is 4
    assert np.abs(deviations).max() < 4.5  # 128 points
    assert found[..., 4].mean() == pytest.approx(4.0, rel=0.1)


def test_few_samples_ask_wider_cells(kept: Callable[..., Kept]) -> None:
    rng, cache, finest = np.random.default_rng(6), kept(), kept(FINEST)
    lit = wall(light=rng.gamma(0.5, 2.0, SIZE[::-1]))
    for each in (cache, finest):
        each.add(lit)
    wide, fine = (each.find(lit) for each in (cache, finest))
    assert wide[..., 3].mean() > 4 * fine[..., 3].mean()
    assert wide[..., 0].std() < 0.6 * fine[..., 0].std()


def test_neither_sides_of_a_wall_nor_what_lies_behind_are_mixed(kept: Callable[..., Kept]) -> None:
    cache, front, back = kept(), wall(light=1.0), wall((0.0, 0.0, -1.0), 7.0)
    cache.add(front)
    cache.add(back)
    for lit, light in ((front, 1.0), (back, 7.0)):
        found = cache.find(lit)
        np.testing.assert_allclose(found[found[..., 3] > 0][:, :3], light, rtol=1e-5)
        assert (found[..., 3] > 0).mean() > 0.99
    behind = wall()
    behind["nearness"] *= 0.12
    assert (cache.find(behind) == 0).all()


def test_another_camera_finds_the_same_place(kept: Callable[..., Kept]) -> None:
    """Light that grows along x, seen from elsewhere."""
    cache, lit = kept(FINEST), wall()
    lit["rgb"] = 3 + places(lit)[..., :1]
    for _ in range(2):
        cache.add(lit)
    aside = Camera((0.9, 0.2, 5.0), (0.6, 0.0, 0.0), fov=50)
    seen = lit.copy()
    seen["nearness"] = through(aside, SIZE)[0][..., 2] / (MIDDLE - aside.origin)[2]
    found = cache.find(seen, aside)
    there = found[..., 3] > 0.4
    assert there.mean() > 0.5
    off = np.abs(found[..., 0] - 3 - places(seen, aside)[..., 0])[there]
    assert off.max() < 2 * WIDE * PIXEL * 5.0  # a cell


def test_places_far_apart_have_keys_of_their_own(kept: Callable[..., Kept]) -> None:
    """What is known in one place is not found powers of two of its cells away, whichever axis leads there."""
    cache, lit = kept(), wall(light=1.0)
    cache.add(lit)
    assert np.mean(cache.find(lit)[..., 3] > 0) > 0.9
    nearest = np.floor(np.log2(WIDE * PIXEL / lit["nearness"]))
    for power in range(7, 17):
        for axis in np.eye(3):
            away = replace(CAMERA, origin=tuple(np.array(CAMERA.origin) + 2.0 ** (power + nearest.max()) * axis))
            assert not cache.find(lit, away)[..., 3].any(), (power, axis)


def test_far_from_the_origin_places_have_all_their_digits(kept: Callable[..., Kept]) -> None:
    """Cells of 0.25 where float32 knows places to 4: all is as it is at the origin."""
    found, shift = [], np.array([3e7, -3e7, 6e7])
    for by in (0 * shift, shift):
        ends = {name: tuple(np.add(getattr(CAMERA, name), by)) for name in ("origin", "target")}
        cache, camera, lit = kept(FINEST), replace(CAMERA, **ends), wall()
        lit["rgb"] = 3 + places(lit)[..., :1]
        cache.add(lit, camera)
        found.append(cache.find(lit, camera))
    assert np.isclose(*found, rtol=1e-4).mean() > 0.99


def test_what_is_no_number_and_what_is_no_surface_is_left_out(kept: Callable[..., Kept]) -> None:
    cache, lit = kept(), wall(light=2.0)
    lit["rgb"][3, 4, 1], lit["rgb"][5, 6, 0] = np.nan, np.inf
    lit["normal"][8:], lit["nearness"][8:] = 0.0, 0.0
    lit["nearness"][10:] = np.nan
    cache.add(lit)
    found = cache.find(lit)
    np.testing.assert_allclose(found[:8, :, :3], 2.0, rtol=1e-5)
    assert (found[8:] == 0).all()


def test_cells_in_one_place_are_told(kept: Callable[..., Kept]) -> None:
    """In a table of 16 x 16 many share one: light of none is taken for another's."""
    cache, front, back = kept(FINEST, 4), wall(light=1.0), wall((0.0, 0.0, -1.0), 7.0)
    cache.add(front)
    cache.add(back)
    for lit, light in ((front, 1.0), (back, 7.0)):
        found = cache.find(lit)
        some = found[..., 3] > 0
        assert 0.05 < some.mean() < 0.9
        np.testing.assert_allclose(found[some][:, :3], light, rtol=1e-3)


def test_it_forgets_when_asked_and_each_cell_in_its_turn(kept: Callable[..., Kept]) -> None:
    cache, lit, sky = kept(FINEST), wall(light=2.0), wall()
    sky["nearness"] = 0.0
    cache.add(lit)
    assert not cache.cache.empty and (cache.find(lit)[..., 3] > 0).mean() > 0.95
    cache.cache.forget()
    assert cache.cache.empty and (cache.find(lit) == 0).all()
    cache.add(lit)
    for _ in range(LIFETIME // 2):
        cache.add(sky)
    assert 0.3 < (cache.find(lit)[..., 3] > 0).mean() < 0.95  # by two cells
    for _ in range(LIFETIME // 2):
        cache.add(sky)
    assert (cache.find(lit) == 0).all()


def test_of_a_large_picture_blocks_are_kept_each_time_of_other_pixels(
    kept: Callable[..., Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(irradiance_cache, "MOST_KEPT", SIZE[0] * SIZE[1] // 4)
    monkeypatch.setattr(irradiance_cache, "MOST_POINTS", SIZE[0] * SIZE[1] // 8)
    cache, taken = kept(FINEST), set()
    values = np.arange(SIZE[0] * SIZE[1], dtype=np.float64).reshape(SIZE[::-1])
    for _ in range(4):
        cache.cache.forget()
        cache.add(wall(light=values))
        held = cache.cache.cells.read()
        assert held["samples"].sum() == pytest.approx(4 * values.size / 4, rel=0.15)  # of four levels
        taken.add(float(held["rgb"].sum()))
    assert len(taken) == 4


def test_a_rehearsal_leaves_nothing_and_clears_nothing(
    kept: Callable[..., Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And makes no cells but its own, which is one."""
    cache, lit, cleared = kept(), wall(light=1.0), []
    clear = Stream.clear
    monkeypatch.setattr(Stream, "clear", lambda stream, *given: (cleared.append(stream.size), clear(stream, *given))[1])
    for _ in range(2):
        with cache.cache.rehearsing():
            cache.add(lit)
            cache.find(lit)
        assert cache.cache.empty and cache.cache.cells is None and (cache.find(lit) == 0).all()
    cache.cache.forget()
    assert cleared == 2 * [SIZE]  # by `find`, which has no cells to look into


def test_a_rehearsal_leaves_what_was_kept(kept: Callable[..., Kept]) -> None:
    cache, lit = kept(), wall(light=1.0)
    cache.add(lit)
    held = cache.cache.cells.read()
    with cache.cache.rehearsing():
        cache.add(wall(light=5.0))
    assert not cache.cache.empty and (cache.cache.cells.read() == held).all()


def test_nothing_is_waited_for(kept: Callable[..., Kept], device: Device) -> None:
    cache, lit = kept(), wall(light=1.0)
    cache.add(lit)
    stream, known = cache._lit(lit)
    waits = device.waits
    cache.cache.add(stream, CAMERA, 1)
    cache.cache.find(stream, CAMERA, known)
    cache.cache.forget()
    assert device.waits == waits
    known.read()
    assert device.waits > waits
