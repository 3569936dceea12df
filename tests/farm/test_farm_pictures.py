"""Pictures and frames of a farm whose workers are this process, films of units in any order, and data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.dataset.picture import DatasetRenderer
from raystream.farm import pictures, worker
from raystream.farm.pictures import (
    _merged_halves,
    merge_ranges,
    merge_tiles,
    portable_settings,
    render_dataset,
    render_frames,
    render_on,
)
from raystream.farm.task_scheduler import Task, TaskScheduler
from raystream.farm.units import Build, Unit, sample_units, source_digest, tile_side, tile_units
from raystream.film.error import Halves
from raystream.film.film import Film
from raystream.formats.image.environment_maps import resolve_environment
from raystream.renderer.inputs.settings import Settings
from raystream.scene.environment import ImageEnvironment
from tests.dataset import recipes


class Done:
    """A future that is done, by a function of `raystream.farm.worker`."""

    def __init__(self, call: Callable[[], Any]) -> None:
        try:
            self.status, self.value = "finished", call()
        except Exception as error:
            self.status, self.value = "error", error

    def add_done_callback(self, call: Callable[[Done], None]) -> None:
        call(self)

    def result(self, timeout: float | None = None) -> Any:
        return self.value

    exception = result

    def cancel(self, force: bool = False) -> None:
        pass

    release = cancel


class Here:
    """A client of workers that all are this process. drivers : that they say to have, by their addresses."""

    def __init__(self, drivers: dict[str, str]) -> None:
        self.drivers = drivers

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.drivers, 1)

    def scatter(self, data: Any, hash: bool) -> Done:
        return Done(lambda: data)

    def submit(self, function: Any, *call: Any, workers: list[str], **_: Any) -> Done:
        if function is worker.build:
            return Done(lambda: Build("1", source_digest(), self.drivers[workers[0]]))
        return Done(lambda: function(*(each.value if isinstance(each, Done) else each for each in call)))


SIZE, SPP = (80, 40), 3
OPTIONS = {"machine": "singlepass", "depth": 2}


@pytest.fixture(scope="module")
def renderer(device: Any) -> Iterator[raystream.Renderer]:
    found = raystream.Renderer("cornell", **OPTIONS)
    yield found
    found.release()


@pytest.fixture(scope="module")
def alone(renderer: raystream.Renderer) -> raystream.Picture:
    return renderer.render(SIZE, SPP)


@pytest.fixture
def farm(device: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """drivers : of the workers. asked : the clusters. works : what has run. order : of the results as they come."""
    found = SimpleNamespace(drivers={"a": device.driver}, asked=[], works=[], ended=0, order=iter)

    @contextmanager
    def connected(cluster: str) -> Iterator[Here]:
        found.asked.append(cluster)
        try:
            yield Here(found.drivers)
        finally:
            found.ended += 1

    class Watched(TaskScheduler):
        def __init__(self, client: Any, **options: Any) -> None:
            super().__init__(client, **options)
            self.options, self.tasks = options, []
            found.works.append(self)

        def run(self, tasks: Any, scene: str) -> Iterator[tuple[Task, Any]]:
            self.tasks += tasks
            yield from found.order(super().run(tasks, scene))

    monkeypatch.setattr(pictures, "connected", connected)
    monkeypatch.setattr(pictures, "TaskScheduler", Watched)
    monkeypatch.setattr(worker, "_PROCESS", worker._Process())
    yield found
    worker._release_renderers()


def backwards(results: Iterator[Any]) -> Iterator[Any]:
    return reversed(list(results))


def same(one: Film | None, other: Film | None) -> None:
    assert one is not None and other is not None
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name], err_msg=name)


# -- a picture ---------------------------------------------------------------------------------------------------------


def test_a_picture_by_tiles(farm: SimpleNamespace, renderer: raystream.Renderer, alone: raystream.Picture) -> None:
    """Each with its cost; it is told how far it is by the samples that are done."""
    told: list[Any] = []
    seen: list[Any] = []
    picture = render_on(
        renderer,
        "tcp://head:8786",
        size=SIZE,
        spp=SPP,
        progress=lambda *what: told.append(what),
        on_unit=lambda *what: seen.append(what),
    )
    same(picture.film, alone.film)
    assert farm.asked == ["tcp://head:8786"] and farm.ended == 1
    (work,) = farm.works
    units = list(tile_units(SIZE, SPP, tile_side(SIZE, 1)))
    assert [unit for unit, _, _ in seen] == units and len(units) == 6
    assert [(task.index, task.name, task.cost) for task in work.tasks] == [
        (k, str(unit), 27 * 20 * 3.0 if unit.left < 54 else 26 * 20 * 3.0) for k, unit in enumerate(units)
    ]
    for number, (unit, traced, seconds) in enumerate(seen):
        assert traced.film.count.shape == (unit.height, unit.width) and seconds == work.seconds[number]
        assert 0 <= traced.preparing < traced.seconds
    costs = np.cumsum([unit.cost for unit in units])
    wanted = [(cost / costs[-1], f"{k} of 6 tiles, 1 workers") for k, cost in enumerate(costs, 1)]
    assert told[0] == (None, "starting workers") and told[1:7] == wanted and told[6][0] == 1.0
    passes = sum(traced.stats.kernel_passes for _, traced, _ in seen)
    assert picture.stats.kernel_passes >= passes > 0 and picture.metadata["driver"] == renderer.device.driver


def test_a_picture_that_is_complete(farm: SimpleNamespace, renderer: raystream.Renderer, tmp_path: Path) -> None:
    """Needs no workers; more samples are added to it, of which its estimate of the error knows nothing."""
    picture = renderer.render((40, 40), 3)
    picture.metadata["driver"] = renderer.device.driver
    picture.save(path := tmp_path / "whole.exr")
    told: list[Any] = []
    found = render_on(renderer, "local", size=(40, 40), spp=3, resume=str(path), progress=lambda *w: told.append(w))
    same(found.film, picture.film)
    assert not farm.asked and (None, "starting workers") not in told
    assert found.metadata["driver"] == renderer.device.driver and found.film is not None
    for unit in ("tiles", "samples"):
        more = render_on(renderer, "local", unit, size=(40, 40), spp=4, resume=str(path))
        assert more.film is not None and more.film.count.min() == 4 == more.film.count.max()
        assert more.film.halves is None and more.film.sample_budget is None
    assert [task.arguments[2].first for task in farm.works[1].tasks] == [3]
    assert [task.cost for task in farm.works[0].tasks] == [20 * 20 * 1.0] * 4 and len(farm.asked) == 2
    less = render_on(renderer, "local", size=(40, 40), spp=2, resume=str(path))
    same(less.film, picture.film)


# -- states ------------------------------------------------------------------------------------------------------------


class State:
    """In place of a state's file: how many samples it had each time. dues : whether it is time to, in turn."""

    def __init__(self, path: Path, dues: list[bool]) -> None:
        self.path, self.dues = path / "a picture.state.exr", dues
        self.saved: list[int] = []

    def due(self) -> bool:
        return self.dues.pop(0) if self.dues else False

    def worth(self, size: tuple[int, int]) -> bool:
        return True

    def save(self, film: Film, *_: Any) -> None:
        self.saved.append(int(film.count.sum()))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), raystream.ViewerError("--cluster", "it is gone", "start it")])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_states_of_a_picture_that_is_stopped(
    farm: SimpleNamespace, renderer: raystream.Renderer, tmp_path: Path, error: BaseException, after: int
) -> None:
    """What is there is kept, and the line tells where; without anything it is the fault alone."""

    def order(results: Iterator[Any]) -> Iterator[Any]:
        for k, each in enumerate(results):
            if k == after:
                raise error
            yield each

    farm.order = order
    for given in (State(tmp_path, []), None):
        state: Any = given
        with pytest.raises(type(error)) as caught:
            render_on(renderer, "local", size=SIZE, spp=1, state=state)
        kept = state is not None and after > 0
        if isinstance(error, raystream.ViewerError) and kept:
            hint = f"start it; then go on with --resume '{tmp_path}/a picture.state.exr'"
            assert caught.value.typed == f"--cluster: it is gone ({hint})" and caught.value.__cause__ is error
        else:
            assert caught.value is error
        if state is not None:
            costs = np.cumsum([task.cost for task in farm.works[0].tasks])
            assert state.saved == ([costs[after - 1]] if kept else [])


# -- what travels ------------------------------------------------------------------------------------------------------


def test_environments_that_travel(tmp_path: Path, renderer: raystream.Renderer) -> None:
    """A picture goes with the scene, once, whether it was named or given; what every machine makes itself is named."""
    image = ImageEnvironment(np.full((2, 4, 3), 0.5, np.float32), "mine")
    for value in (None, "none", "sky", "studio", (0.5, 0.25, 1.0), "0.5,0.25,1"):
        settings = Settings(environment=value, **OPTIONS)
        assert portable_settings(settings) == (settings, None)
    settings = Settings(environment=image, **OPTIONS)
    left, found = portable_settings(settings)
    assert found is image and left == settings.replace(environment=None) and left.environment is None
    from raystream.film.files.image import save

    save(path := tmp_path / "sky.exr", np.full((2, 4, 3), 0.25, np.float32), {}, {})
    left, found = portable_settings(Settings(environment=str(path), **OPTIONS))
    named = resolve_environment(str(path))[0]
    assert isinstance(found, ImageEnvironment) and isinstance(named, ImageEnvironment) and left.environment is None
    np.testing.assert_array_equal(found.pixels, named.pixels)


# -- frames ------------------------------------------------------------------------------------------------------------


def test_frames_in_their_order(farm: SimpleNamespace) -> None:
    """Whichever is done first; those that are done early are told, and wait."""
    scene, told, asked = raystream.load("cornell"), [], {"size": (12, 10), "spp": 1}
    frames, given = range(6, 1, -2), {"turntable": True, "render": asked, **OPTIONS}
    alone = list(raystream.render_frames(scene, frames, 10.0, **given))
    texts = [(k / 3, f"{k} of 3 frames, 1 workers") for k in (1, 2, 3)]
    for order, films in ((iter, False), (backwards, True)):
        told.clear()
        farm.order = order
        of = {"cluster": "local:2", "films": films, "progress": lambda *what: told.append(what)}
        came = render_frames(scene, frames, 10.0, **of, **given)
        first = next(came)
        assert told == [(None, "starting workers"), *texts[: 1 if order is iter else 3]]
        for one, other in zip([first, *came], alone, strict=True):
            assert (one.number, one.seconds) == (other.number, other.seconds)
            np.testing.assert_array_equal(one.picture.linear, other.picture.linear)
            assert (one.picture.film is not None) == films
        assert told[1:] == texts and [task.cost for task in farm.works[-1].tasks] == [1.0] * 3
    assert farm.asked == ["local:2"] * 2 and farm.ended == 2


def test_frames_of_nothing_that_moves(farm: SimpleNamespace) -> None:
    with pytest.raises(raystream.ViewerError, match="nothing moves in it"):
        next(render_frames(raystream.load("cornell"), range(2), cluster="local"))
    assert not farm.asked


COLLECTED, SAMPLES = (80, 48), 16


@pytest.fixture(scope="module")
def samples() -> np.ndarray:
    return np.random.default_rng(0).random((SAMPLES, *COLLECTED[::-1], 3), np.float32)


def filled(samples: np.ndarray) -> Film:
    film = Film(samples.shape[2], samples.shape[1])
    for sample in samples:
        film.store_half()
        film.add(sample)
    return film


def test_tiles_have_the_halves_of_the_whole(samples: np.ndarray) -> None:
    whole, made = filled(samples), Film(*COLLECTED)
    collected = merge_tiles(made)
    next(collected)
    units = list(enumerate(tile_units(COLLECTED, SAMPLES, 32)))
    for k, unit in reversed(units):
        assert made.halves is None  # of a part they tell nothing
        collected.send((k, unit, filled(samples[:, *unit.region])))
    collected.close()
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(made.arrays[name], array, err_msg=name)
    assert whole.halves is not None and made.halves is not None and len(units) > 4
    np.testing.assert_array_equal(made.halves.sum, whole.halves.sum)
    np.testing.assert_array_equal(made.halves.count, whole.halves.count)
    assert made.halves.differences == pytest.approx(whole.halves.differences, rel=1e-12)  # means of float64, regrouped
    # The ratio of neighbours is each tile's own estimate, of 500 to 800 pixels.
    assert made.halves.variances == pytest.approx(whole.halves.variances, rel=0.2)
    assert made.halves.relative_std_errors.keys() == whole.halves.relative_std_errors.keys() != set()
    assert made.error() == pytest.approx(whole.error(), rel=0.1)


def test_ranges_join_in_their_order(samples: np.ndarray) -> None:
    """A film to go on from at any time: what is early waits."""
    units = list(sample_units(COLLECTED, 0, SAMPLES, 5))
    films = [filled(samples[unit.first : unit.first + unit.samples]) for unit in units]
    straight, mixed = Film(*COLLECTED), Film(*COLLECTED)
    for film in films:
        straight.join(film)
    collected = merge_ranges(mixed)
    next(collected)
    for k, there in ((2, 0), (0, 5), (3, 5), (1, SAMPLES)):
        collected.send((k, units[k], films[k]))
        assert set(mixed.count.flat) == {there}
    for name, array in straight.arrays.items():
        np.testing.assert_array_equal(mixed.arrays[name], array, err_msg=name)


def test_errors_of_tiles_add_as_independent_ones(samples: np.ndarray) -> None:
    """By their shares of the pixels: tiles of an edge are smaller."""
    made, parts = Film(*COLLECTED), []
    collected = merge_tiles(made)
    next(collected)
    for k, unit in enumerate(tile_units(COLLECTED, SAMPLES, 32)):
        film = filled(samples[:, *unit.region])
        assert film.halves is not None
        parts.append((unit.width * unit.height / (COLLECTED[0] * COLLECTED[1]), film.halves))
        collected.send((k, unit, film))
    collected.close()
    assert made.halves is not None and len({share for share, _ in parts}) > 1
    for level, error in made.halves.relative_std_errors.items():
        variance = sum(share * halves.variances[level] for share, halves in parts)
        squares = [
            (share * halves.variances[level] * halves.relative_std_errors[level]) ** 2 for share, halves in parts
        ]
        assert made.halves.variances[level] == pytest.approx(variance, rel=1e-12)
        assert error == pytest.approx(sum(squares) ** 0.5 / variance, rel=1e-12)


def part(left: int, width: int, count: float, *levels: dict[int, float]) -> tuple[Unit, Halves]:
    """A tile of a picture 4 pixels wide and 2 high. levels : differences, variances, relative standard errors."""
    shape = 2, width
    held = Halves(np.full(shape, 10.0 + left, np.float32), np.full(shape, count, np.float32), *levels)
    return Unit(left, 0, width, 2, 4), held


def halves(*parts: tuple[Unit, Halves], count: float = 4) -> Halves | None:
    made = Film(4, 2)
    made.count[:] = count
    return _merged_halves(made, list(parts))


def test_halves_that_do_not_fit() -> None:
    """Of some tiles alone, of other samples, or of a picture whose pixels differ: they tell nothing of it."""
    left, right = part(0, 2, 4, {1: 1.0}), part(2, 2, 4, {1: 1.0})
    assert halves(left, right) is not None and halves(left, part(2, 2, 4, {2: 1.0})) is not None
    assert halves(left) is None and halves(right) is None and halves() is None
    assert halves(left, part(2, 2, 2, {1: 1.0})) is None and halves(part(0, 2, 2, {1: 1.0}), right) is None
    made = Film(4, 2)
    made.count[:] = 4
    made.count[0, 3] = 5
    assert _merged_halves(made, [left, right]) is None


@pytest.mark.usefixtures("device")
def test_workers_make_the_same_bytes(tmp_path: Path, scheduler: str) -> None:
    """The models travel: workers have no files of theirs."""
    model = recipes.cube(tmp_path)
    stage = recipes.stage(tmp_path, scenes=2, views=2, lights={"count": [1, 2]})
    model.unlink()
    found = {made.index: made for made in render_dataset(stage, [3, 0, 2], scheduler)}
    renderer = DatasetRenderer(stage)
    for number in (0, 2, 3):
        own = renderer.render(number)
        assert found[number].files == own.files and found[number].record == own.record
    renderer.release()
    assert found.keys() == {0, 2, 3}


def test_a_worker_without_the_stage_says_so() -> None:
    with pytest.raises(worker.SceneLost):
        worker.dataset_picture("unknown", 0)


def test_a_picture_of_uneven_samples_goes_on(
    farm: SimpleNamespace, renderer: raystream.Renderer, tmp_path: Path
) -> None:
    """Half of its pixels have more samples than all are to have, half fewer."""
    picture = renderer.render((8, 4), 2)
    more = renderer.render((8, 4), 6).film
    assert picture.film is not None and more is not None
    picture.film.store(more.part(4, 0, 4, 4).records(), 4, 0)
    picture.film.halves = picture.film.sample_budget = None
    picture.save(path := tmp_path / "uneven.exr")
    told: list[Any] = []
    found = render_on(renderer, "local", size=(8, 4), spp=4, resume=str(path), progress=lambda *w: told.append(w))
    assert found.film is not None and told[1] == (1.0, "1 of 1 tiles, 1 workers")
    np.testing.assert_array_equal(found.film.count, np.float32([[4] * 4 + [6] * 4] * 4))
    assert farm.works[0].tasks[0].cost == 4 * 4 * 2


def test_no_halves_where_a_tile_had_begun(samples: np.ndarray) -> None:
    made = Film(*COLLECTED)
    collected = merge_tiles(made)
    next(collected)
    for k, unit in enumerate(tile_units(COLLECTED, SAMPLES, 32)):
        film = filled(samples[:, *unit.region])
        film.halves = None if k == 1 else film.halves
        collected.send((k, unit, film))
    collected.close()
    assert made.halves is None and made.count.min() == SAMPLES


def test_halves_by_hand() -> None:
    """Means over the pixels, of the levels that all tiles have; errors as the roots of their squares' sums."""
    one = part(0, 1, 4, {0: 9.0, 1: 2.0, 2: 4.0}, {1: 8.0, 2: 4.0}, {1: 0.5, 2: 0.25})
    other = part(1, 3, 4, {1: 6.0, 2: 0.0, 3: 9.0}, {1: 8.0, 2: 12.0, 3: 1.0}, {2: 0.5, 3: 1.0})
    for parts in ((one, other), (other, one)):
        found = halves(*parts)
        assert found is not None
        assert found.differences == {1: 0.25 * 2 + 0.75 * 6, 2: 0.25 * 4} == {1: 5.0, 2: 1.0}
        assert found.variances == {1: 8.0, 2: 0.25 * 4 + 0.75 * 12} == {1: 8.0, 2: 10.0}
        # (0.25 * 4 * 0.25, 0.75 * 12 * 0.5) = (0.25, 4.5)
        assert found.relative_std_errors == {2: pytest.approx((0.0625 + 20.25) ** 0.5 / 10, rel=1e-12)}
        np.testing.assert_array_equal(found.sum, np.float32([[10, 11, 11, 11]] * 2))
        np.testing.assert_array_equal(found.count, np.float32([[4, 4, 4, 4]] * 2))
