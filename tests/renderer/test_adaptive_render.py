"""Adaptive pictures through the renderer: the same bits however they are cut, stopped and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import places
import pytest
from pictures import film_of

from raystream import Camera, Picture, Renderer, Scene
from raystream.film.adaptive import MIN_SAMPLES
from raystream.film.device_film import FilmBuffer
from raystream.film.files.checkpoint import resume, save
from raystream.renderer.sampling.sampler import FramePlan, TileDone, Tiling

SIZE = (36, 28)  # blocks of 8 x 8 go on together
SINGLE: dict[str, Any] = {"machine": "singlepass", "depth": 2}
ERROR = 0.04  # some pixels end after 32 samples, others after more than 64


@pytest.fixture(scope="module")
def scene() -> Scene:
    """A ball and a lamp over nothing: most of the picture is black and has no noise."""
    meshes = [places.flat(places.sphere(1) * 0.5), places.flat(places.LAMP, 1)]
    kinds = [places.material(0.7), places.material(0.5, shines=5.0)]
    return places.scene(meshes, kinds, Camera((0, 0, 3.4), (0, 0, 0)), name="adaptive")


@pytest.fixture(scope="module")
def renderer(device, scene: Scene) -> Renderer:
    return Renderer(scene, **SINGLE)


@pytest.fixture(scope="module")
def whole(renderer: Renderer) -> Picture:
    """Unbroken."""
    return renderer.render(SIZE, error=ERROR, layers="samples")


def assert_same(one: Picture, other: Picture) -> None:
    for name, array in film_of(one).arrays.items():
        assert array.tobytes() == film_of(other).arrays[name].tobytes(), name
    first, second = film_of(one).sample_budget, film_of(other).sample_budget
    assert first is not None and second is not None
    assert first.granted.tobytes() == second.granted.tobytes() and first.error == second.error
    assert one.linear.tobytes() == other.linear.tobytes()


def test_pixels_end_where_there_is_no_noise(renderer: Renderer, whole: Picture) -> None:
    film = film_of(whole)
    assert film.count.min() == MIN_SAMPLES and film.count.max() > 2 * MIN_SAMPLES
    assert 0 < film.error() <= ERROR and whole.metadata["stopped by"] == "error"
    assert (
        film.count[film.square > 0].mean() > 1.5 * film.count[film.square == 0].mean()
    )  # of blocks at the ball's edge
    np.testing.assert_array_equal(whole.layers["samples"], film.count)
    assert whole.metadata["samples"].startswith(f"{film.count.mean():.1f} (32 to ")
    even = renderer.render(SIZE, spp=int(film.count.max())).film
    assert even is not None
    same = film.count == film.count.max()  # those that did not end have the samples of the even picture, bit by bit
    assert same.any() and film.sum[same].tobytes() == even.sum[same].tobytes()


def test_resumed_without_a_goal_all_pixels_have_as_many(renderer: Renderer, whole: Picture, tmp_path: Path) -> None:
    """Those that had ended get what they lack."""
    whole.save(tmp_path / "a.exr")
    most = int(film_of(whole).count.max())
    film = film_of(renderer.render(SIZE, spp=most, resume=str(tmp_path / "a.exr")))
    straight = film_of(renderer.render(SIZE, spp=most))
    assert film.sample_budget is None and (film.count == most).all()
    assert film.sum.tobytes() == straight.sum.tobytes() and film.square.tobytes() == straight.square.tobytes()


@pytest.mark.parametrize(
    "machine", [{"machine": "multipass"}, {"machine": "multipass", "fuse": "none", "mask": "none"}]
)
def test_every_machine_leaves_the_same_bits(scene: Scene, whole: Picture, machine: dict[str, Any]) -> None:
    other = Renderer(scene, **{**SINGLE, **machine})
    assert_same(other.render(SIZE, error=ERROR), whole)
    other.release()


@pytest.mark.parametrize("samples", [(20, 45, 77), (33, 64, 65), (16, 32), (40, 41, 63)])
def test_resumed_in_the_midst_of_a_level(
    renderer: Renderer, whole: Picture, tmp_path: Path, samples: tuple[int, ...]
) -> None:
    last: dict[str, Any] = {}
    for number, most in enumerate(samples):
        part = renderer.render(SIZE, spp=most, error=ERROR, **last)
        part.save(tmp_path / f"{number}.exr")
        last = {"resume": str(tmp_path / f"{number}.exr")}
    assert_same(renderer.render(SIZE, error=ERROR, **last), whole)


@pytest.mark.parametrize("tiles", [1, 4, 11])
def test_broken_off_within_a_run_it_goes_on_with_the_same_bits(
    renderer: Renderer, whole: Picture, tmp_path: Path, tiles: int
) -> None:
    """Some rectangles have had their samples, others not: what the film itself, and a state of it, holds counts."""
    with renderer.device.current():
        film = FilmBuffer(renderer.device, SIZE)
    for _ in renderer.sampler.render_tiles(
        FramePlan(renderer.settings, renderer.camera, SIZE, samples=MIN_SAMPLES, error_goal=ERROR), film
    ):
        pass
    events = renderer.sampler.render_tiles(
        FramePlan(
            renderer.settings, renderer.camera, SIZE, samples=2 * MIN_SAMPLES, error_goal=ERROR, tiling=Tiling((8, 8))
        ),
        film,
    )
    done = (event for event in events if isinstance(event, TileDone))
    for _ in range(tiles):
        next(done)
    events.close()
    with renderer.device.current():
        begun = film.film()
        film.release()
        save(tmp_path / "state.exr", begun, {})
        begun = resume(tmp_path / "state.exr", SIZE, {})
        again = FilmBuffer(renderer.device, SIZE, begun)
    assert begun.sample_budget is not None and (begun.count < begun.sample_budget.granted).any()
    assert len(np.unique(begun.count)) > 1
    for _ in renderer.sampler.render_tiles(
        FramePlan(renderer.settings, renderer.camera, SIZE, samples=1024, error_goal=ERROR), again
    ):
        pass
    with renderer.device.current():
        made = again.film()
        again.release()
    assert made.sum.tobytes() == film_of(whole).sum.tobytes() and made.count.tobytes() == film_of(whole).count.tobytes()


def test_ended_pixels_cost_nothing(renderer: Renderer) -> None:
    """Kernels are called for the chosen pixels alone."""
    counted = renderer.render(SIZE, error=ERROR, stats=True)
    count = film_of(counted).count
    paths = count.sum() - SIZE[0] * SIZE[1] * MIN_SAMPLES
    assert count.min() < count.max()  # some have ended before others
    every = renderer.render(SIZE, spp=MIN_SAMPLES, stats=True)
    begun = counted.stats.kernels["begin"].calls - every.stats.kernels["begin"].calls
    assert begun == pytest.approx(paths, rel=0.02)  # a run that begins with no sample left for a pixel calls it, too


def test_where_nothing_is_lit_or_all_is_light_there_is_no_noise(device) -> None:
    """No hits, all hits on a lamp, and all hits on what reflects nothing."""
    wall = np.array([[[-9.0, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]]])
    meshes = [places.flat(places.quads(wall)), places.flat(places.quads(wall + [40, 0, 0]), 1)]
    kinds = [places.material(0.0), places.material(0.0, shines=5.0)]
    one = Renderer(places.scene(meshes, kinds, Camera((0, 0, 3), (0, 0, 0))), **SINGLE)
    for x, z, light in ((0, 0, 0.0), (40, 0, 5.0), (0, 9, 0.0)):
        one.update(camera=Camera((x, 0, 3), (x, 0, z)))
        picture = one.render((12, 9), error=0.01)
        assert (picture.linear == light).all()
        assert film_of(picture).error() == 0.0 and film_of(picture).count.max() <= MIN_SAMPLES
    one.release()
