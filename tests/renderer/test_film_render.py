"""Films through the renderer and the command: resumed and stopped renders, states, bounce layers, bad input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import places
import pytest
from pictures import film_of
from signals import heeding

from raystream import Camera, Picture, Renderer, Scene, ViewerError
from raystream.cli import main as cli
from raystream.film.error import MIN_ERROR_SAMPLES, bound
from raystream.film.files import image
from raystream.film.files.checkpoint import save
from raystream.film.film import Film
from raystream.options.table import DEFAULT_SAMPLES
from raystream.renderer.sampling.partial_film import sample_ranges
from raystream.renderer.sampling.picture_metadata import sample_settings

SIZE = (24, 18)
SINGLE: dict[str, Any] = {"machine": "singlepass", "depth": 3}


@pytest.fixture(scope="module")
def scene() -> Scene:
    """A grey box that is open in front, with a mirror ball and a lamp."""
    sides = places.box(inwards=True).reshape(6, 2, 3, 3)[:5].reshape(-1, 3, 3)
    meshes = [places.flat(sides), places.flat(places.sphere(1) * 0.5, 1), places.flat(places.LAMP, 2)]
    kinds = [places.material(0.7), places.material(0.9, kind="mirror"), places.material(0.5, shines=5.0)]
    return places.scene(meshes, kinds, Camera((0, 0, 3.4), (0, 0, 0)), name="film")


@pytest.fixture(scope="module")
def renderer(device, scene: Scene) -> Renderer:
    return Renderer(scene, **SINGLE)


@pytest.fixture(scope="module")
def whole(renderer: Renderer) -> Picture:
    """24 samples, unbroken."""
    return renderer.render(SIZE, spp=24)


def assert_same(one: Film, other: Film) -> None:
    for name, array in one.arrays.items():
        assert array.tobytes() == other.arrays[name].tobytes(), name


# -- resume -----------------------------------------------------------------------------------------------------------


def test_resumed_through_its_own_file_it_is_the_unbroken_one(
    renderer: Renderer, scene: Scene, whole: Picture, tmp_path: Path
) -> None:
    """Twice, on another machine, by a renderer that has never seen the first part."""
    first = renderer.render(SIZE, spp=5)
    first.save(tmp_path / "a.exr")
    other = Renderer(scene, **{**SINGLE, "machine": "multipass"})
    other.render(SIZE, spp=11, resume=str(tmp_path / "a.exr")).save(tmp_path / "b.exr")
    other.release()
    resumed = renderer.render(SIZE, spp=24, resume=str(tmp_path / "b.exr"))
    assert_same(film_of(resumed), film_of(whole))
    assert resumed.linear.tobytes() == whole.linear.tobytes()
    resumed.save(tmp_path / "c.exr")
    whole.save(tmp_path / "d.exr")
    one, other_file = (image.read_exr(tmp_path / name)[1] for name in ("c.exr", "d.exr"))
    assert one.keys() == other_file.keys() > {"R", "film.sum.R", "film.compensation.B", "film.square", "film.count"}
    for name, channel in one.items():
        assert channel.tobytes() == other_file[name].tobytes(), name


@pytest.mark.parametrize("spp", [5, 4, 24])
def test_an_uneven_film_is_filled_up(renderer: Renderer, whole: Picture, tmp_path: Path, spp: int) -> None:
    """Stopped in the middle of a sample, some pixels have it: every pixel gets what it lacks, and no more."""
    few, more = (film_of(renderer.render(SIZE, spp=samples)) for samples in (3, 5))
    rows, columns = slice(4, 11), slice(7, 20)
    for name, array in few.arrays.items():
        array[rows, columns] = more.arrays[name][rows, columns]
    save(tmp_path / "a.exr", few, sample_settings(renderer))
    picture = renderer.render(SIZE, spp=spp, resume=str(tmp_path / "a.exr"))
    straight = whole if spp == 24 else renderer.render(SIZE, spp=spp)
    expected = film_of(straight)
    if spp == 4:
        for name, array in expected.arrays.items():
            array[rows, columns] = more.arrays[name][rows, columns]
    assert_same(film_of(picture), expected)
    assert picture.metadata["samples"] == str(spp)


def test_ranges_begin_at_multiples_wherever_a_render_goes_on() -> None:
    """So that a range has the same samples, and its sum the same bits."""
    assert list(sample_ranges(0, 20, 8)) == [(0, 8), (8, 8), (16, 4)]
    for before in range(20):
        found = list(sample_ranges(before, 20, 8))
        assert found[0][0] == before and all(first % 8 == 0 for first, _ in found[1:])
        assert [number for first, count in found for number in range(first, first + count)] == [*range(before, 20)]
    assert list(sample_ranges(5, 20, 8)) == [(5, 3), (8, 8), (16, 4)] and not [*sample_ranges(20, 20, 8)]


def test_a_changed_scene_is_not_resumed(scene: Scene, whole: Picture, tmp_path: Path) -> None:
    whole.save(tmp_path / "a.exr")
    for shines in (5.0, 5.1):  # the same scene built again, and one whose lamp is brighter
        kinds = [*scene.materials[:2], places.material(0.5, shines=shines)]
        other = Renderer(places.scene(scene.meshes, kinds, scene.cameras[0], name=scene.name), **SINGLE)
        if shines == 5.0:
            assert_same(film_of(other.render(SIZE, spp=24, resume=str(tmp_path / "a.exr"))), film_of(whole))
            continue
        with pytest.raises(ViewerError, match=r"a\.exr: was rendered from another scene"):
            other.render(SIZE, spp=24, resume=str(tmp_path / "a.exr"))


# -- when it stops ----------------------------------------------------------------------------------------------------


def test_time_stops_between_runs(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that a run takes 0.2 s of: after the third 0.5 s are over, and there was no time for two samples."""
    clock, render_tiles = [0.0], renderer.sampler.render_tiles

    def timed(*words: Any, **choices: Any) -> Any:
        yield from render_tiles(*words, **choices)
        clock[0] += 0.2

    for module in ("session.session", "preview.frame"):
        name = f"raystream.renderer.{module}.time"
        monkeypatch.setattr(name, SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(renderer.sampler, "render_tiles", timed)
    picture = renderer.render(SIZE, spp=65536, time=0.5)
    assert picture.stats.facts["stopped by"] == "time" and picture.stats.facts["samples"] == 3
    assert (film_of(picture).count == 3).all()


def test_error_stops_when_it_is_met(renderer: Renderer) -> None:
    """The estimate is what the samples of other seeds spread by, and the fewest samples that reach it are taken."""
    goal = 0.04
    picture = renderer.render(SIZE, spp=65536, error=goal)
    film = film_of(picture)
    assert picture.stats.facts["stopped by"] == "error" and bound(film.error(), film.relative_std_error()) <= goal
    samples = int(film.count.min())
    assert samples >= MIN_ERROR_SAMPLES
    # By the law of large numbers; looked at after every run of up to 16 samples.
    needed = samples * (bound(film.error(), film.relative_std_error()) / goal) ** 2
    assert needed > samples / 1.125 - 16 - 0.1 * samples


def test_an_error_decides_where_no_samples_are_given(renderer: Renderer) -> None:
    """Without a number of samples the picture goes beyond those of one that has no rule at all."""
    assert renderer.render((4, 4)).stats.facts["samples"] == DEFAULT_SAMPLES
    facts = renderer.render((4, 4), error=0.02).stats.facts
    assert facts["stopped by"] == "error" and facts["samples"] > DEFAULT_SAMPLES


# -- layers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_bounce_layers_add_up_to_the_picture(scene: Scene, whole: Picture, machine: str) -> None:
    renderer = Renderer(scene, **{**SINGLE, "machine": machine})
    picture = renderer.render(SIZE, spp=24, layers="bounce,depth,triangle")
    again = renderer.render(SIZE, spp=24)
    renderer.release()
    names = [f"bounce.{number}" for number in range(4)]
    assert set(picture.layers) == {*names, "depth", "triangle"}
    assert picture.linear.tobytes() == whole.linear.tobytes() == again.linear.tobytes()
    total = sum(picture.layers[name].astype(np.float64) for name in names)
    # Each layer is rounded once, and each path's sum as often as it has surfaces.
    np.testing.assert_allclose(total, picture.linear, rtol=2e-6, atol=1e-7)
    seen = picture.layers["bounce.0"]
    assert seen.max() <= 5.0 and 0 < (seen > 0).any(axis=-1).mean() < 0.5
    assert all(picture.layers[name].any() for name in names)


def test_each_bounce_is_what_more_depth_adds(scene: Scene) -> None:
    """The picture at depth k + 1 less that at depth k is layer k + 1: with the same numbers, not on average alone."""
    pictures = []
    for depth in range(4):
        pictures.append(places.picture(scene, SIZE, 8, "bounce", **{**SINGLE, "depth": depth}))
    deepest = pictures[-1].layers
    for depth, picture in enumerate(pictures):
        for number in range(depth + 1):
            np.testing.assert_array_equal(picture.layers[f"bounce.{number}"], deepest[f"bounce.{number}"])
        if depth:
            added = picture.linear.astype(np.float64) - pictures[depth - 1].linear
            np.testing.assert_allclose(added, deepest[f"bounce.{depth}"], rtol=1e-4, atol=2e-6)


# -- states -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_whenever_it_is_stopped_the_state_goes_on_to_the_bit(
    scene: Scene, whole: Picture, tmp_path: Path, machine: str
) -> None:
    """Ctrl-C may come at any report of progress, in the middle of a run too."""
    renderer = Renderer(scene, **{**SINGLE, "machine": machine})
    resumed = []
    for calls in (1, 2, 3, 4, 8, 16, 64, 256):
        state, left = renderer.checkpoint(tmp_path / f"{calls}.exr"), iter(range(calls))

        def progress(share: float, text: str, left: Any = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        try:
            renderer.render(SIZE, spp=24, progress=progress, state=state)
        except KeyboardInterrupt:
            if state is None or not state.path.exists():
                continue  # before the first sample was done
            resumed.append(image.read_exr(state.path)[1]["film.count"].min())
            again = renderer.render(SIZE, spp=24, resume=str(state.path))
            assert_same(film_of(again), film_of(whole))
    renderer.release()
    assert any(0 < count < 24 for count in resumed)


def test_states_are_saved_as_it_goes(
    renderer: Renderer, whole: Picture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "raystream.film.files.checkpoint.MIN_INTERVAL_RATIO", 0.0
    )  # between states, as a multiple of what saving one takes
    state = renderer.checkpoint(tmp_path / "a.png")
    assert state is not None
    state.every = 0.0
    picture = renderer.render(SIZE, spp=24, state=state)
    assert_same(film_of(picture), film_of(whole))
    assert state.saved >= 2 and state.path.exists()
    kept = image.read_exr(state.path)[1]["film.count"]
    assert 1 <= kept.min() == kept.max() <= 24
    state.finish()
    assert os.listdir(tmp_path) == []


BASE = ["render", "cornell", "--size", "20x16", "--depth", "2", "--machine", "singlepass", "--quiet"]


def run(*words: object) -> int:
    return cli.main([*BASE, *map(str, words)])


def films(*paths: Path) -> list[dict[str, np.ndarray]]:
    return [{k: v for k, v in image.read_exr(path)[1].items() if k.startswith("film.")} for path in paths]


def test_the_command_resumes(device, tmp_path: Path) -> None:
    part, after, straight = (tmp_path / name for name in ("part.exr", "after.exr", "straight.exr"))
    assert run("--spp", 3, "-o", part) == run("--spp", 9, "-o", straight) == 0
    assert run("--spp", 9, "--resume", part, "-o", after) == 0
    one, other = films(after, straight)
    assert one.keys() == other.keys() and len(one) == 10
    told = [image.read_exr(path)[0]["film.differences"] for path in (after, straight)]
    assert told[0] == told[1] and told[0].startswith("3:")
    for name, channel in one.items():
        assert channel.tobytes() == other[name].tobytes(), name
    assert run("--spp", 12, "--resume", part, "-o", part) == 0  # into its own file
    assert set(np.unique(films(part)[0]["film.count"])) == {12}


def test_an_environment_with_a_nan_is_one_line(device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is mended; a picture that has no finite light at all is an error."""
    pixels = np.ones((4, 8, 3), np.float32)
    pixels[2, 3, 1] = np.nan
    image.save(tmp_path / "sky.exr", pixels, {}, {})
    telling = [word for word in BASE if word != "--quiet"]
    words = ["-o", str(tmp_path / "a.exr"), "--environment", str(tmp_path / "sky.exr")]
    assert cli.main([*telling, *words]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "sky.exr" in line]
    assert "1 pixel is not a number" in line
    _, channels = image.read_exr(tmp_path / "a.exr")
    assert all(np.isfinite(channels[name]).all() and channels[name].any() for name in "RGB")
    image.save(tmp_path / "sky.exr", np.full((4, 8, 3), np.inf, np.float32), {}, {})
    assert run("-o", tmp_path / "b.exr", "--environment", tmp_path / "sky.exr") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "sky.exr" in error and not (tmp_path / "b.exr").exists()


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------


def interrupted(folder: Path, name: str, seconds: float) -> tuple[int, str]:
    """Exit code and last words of a long render that is stopped after so long."""
    words = ["cornell", "--size", "48x36", "--depth", "2", "--machine", "singlepass", "--spp", "20000", "-o", name]
    command = [sys.executable, "-P", "-m", "raystream", "render", *words]
    child = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=heeding)
    time.sleep(seconds)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=600)
    return child.returncode, error


@pytest.mark.parametrize("name", ["a.exr", "a.png"])
def test_stopped_with_ctrl_c_it_goes_on_to_the_bit(device, tmp_path: Path, name: str) -> None:
    for seconds in (1.5, 3.0, 6.0, 15.0, 60.0, 240.0):  # on a busy machine the first sample may take a while
        code, error = interrupted(tmp_path, name, seconds)
        if os.listdir(tmp_path):
            break
    *progress, last = error.splitlines()
    assert code == 130 and "--resume" in last and error.endswith("\n"), error
    assert all("of 20,000 samples, noise" in line for line in progress), error  # every ten seconds a line
    (state,) = os.listdir(tmp_path)
    assert state == f"{name}.state.exr"
    (kept,) = films(tmp_path / state)
    done = int(kept["film.count"].min())
    assert done == kept["film.count"].max() >= 1
    options: list[object] = ["cornell", "--size", "48x36", "--depth", "2", "--machine", "singlepass", "--quiet"]
    command = ["render", *map(str, options), "--spp", str(done + 6)]
    assert cli.main([*command, "-o", str(tmp_path / "on.exr"), "--resume", str(tmp_path / state)]) == 0
    assert cli.main([*command, "-o", str(tmp_path / "straight.exr")]) == 0
    one, other = films(tmp_path / "on.exr", tmp_path / "straight.exr")
    for key, channel in one.items():
        assert channel.tobytes() == other[key].tobytes(), key
