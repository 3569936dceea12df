"""A repeated command said nothing of the state that a stopped one had left, overwrote it, and deleted it at the end."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import places
import pytest

from raystream import Renderer, ViewerError
from raystream.cli import main as cli
from raystream.film.files import checkpoint
from raystream.film.files.checkpoint import Checkpoint
from raystream.film.files.image import read_exr
from raystream.film.film import Film
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene

SIZE, SETTINGS = (5, 4), {"scene": "one", "seed": "0"}


def film(samples: int) -> Film:
    made, rng = Film(*SIZE), np.random.default_rng(0)
    for _ in range(samples):
        made.add(rng.random((SIZE[1], SIZE[0], 3), np.float32))
    return made


def left(path: Path, samples: int, **changes: str) -> Path:
    """The state that a render of so many samples has left, and its file."""
    state = Checkpoint(path, SETTINGS | changes)
    state.save(film(samples))
    return state.path


def samples_of(path: Path) -> int:
    return int(read_exr(path)[1]["film.count"].min())


@pytest.mark.parametrize("name", ["a.png", "a.exr"])
def test_a_render_neither_overwrites_nor_deletes_what_it_has_not_used(tmp_path: Path, name: str) -> None:
    old = left(tmp_path / name, 7)
    again = Checkpoint(tmp_path / name, SETTINGS)
    again.save(film(1))
    again.save(film(2))
    assert again.path != old and (samples_of(old), samples_of(again.path)) == (7, 2)
    assert sorted(os.listdir(tmp_path)) == [f"{name}.state.2.exr", f"{name}.state.exr"]
    again.finish()
    assert os.listdir(tmp_path) == [old.name] and samples_of(old) == 7


def test_two_renders_of_one_picture_at_the_same_time_have_a_state_each(tmp_path: Path) -> None:
    one, other = (Checkpoint(tmp_path / "a.png", SETTINGS) for _ in range(2))
    one.save(film(3))
    other.save(film(2))
    assert (samples_of(one.path), samples_of(other.path)) == (3, 2)


def test_what_is_used_goes_on_in_its_file_and_goes_with_the_picture(tmp_path: Path) -> None:
    first, second = left(tmp_path / "a.png", 7), left(tmp_path / "a.png", 3)
    state = Checkpoint(tmp_path / "a.png", SETTINGS)
    state.use(os.path.relpath(first))
    state.save(film(8))
    assert samples_of(first) == 8 and len(os.listdir(tmp_path)) == 2
    state.finish()
    assert os.listdir(tmp_path) == [second.name]
    elsewhere = Checkpoint(tmp_path / "b.png", SETTINGS)
    elsewhere.use(second)
    elsewhere.finish()
    assert os.listdir(tmp_path) == [second.name]


def test_the_best_that_fits_is_found(tmp_path: Path) -> None:
    target = tmp_path / "a.exr"
    state = Checkpoint(target, SETTINGS)
    assert state.find(SIZE) == (None, 0, [])
    left(target, 3)
    best = left(target, 5)
    other = left(target, 9, seed="1")
    damaged = tmp_path / "a.exr.state.7.exr"
    damaged.write_bytes(best.read_bytes()[:-9])
    (tmp_path / "b.exr.state.exr").write_bytes(b"another picture's")
    found, samples, wrong = state.find(SIZE)
    assert (found, samples) == (best, 5)
    assert len(wrong) == 2 and any(str(damaged) in line for line in wrong)
    assert any(f"{other}: was rendered with seed '1', not '0'" in line for line in wrong)
    shutil.copy(best, target)
    best.unlink()
    assert state.find(SIZE)[0] == target  # a picture that is there may have samples added
    assert state.find(SIZE, pictures=False)[:2] == (checkpoint.existing_states(target)[-1], 3)
    assert state.find(SIZE[::-1])[0] is None


@pytest.fixture
def scene() -> Scene:
    return places.scene([places.flat(places.box())], [places.material(0.5, shines=1.0)], Camera((0, 0, 4), (0, 0, 0)))


def test_python_goes_on_from_the_state_of_a_picture(device, scene: Scene, tmp_path: Path) -> None:
    renderer = Renderer(scene, machine="singlepass", depth=1)
    whole = renderer.render(SIZE, spp=6)
    state = renderer.checkpoint(tmp_path / "a.png")
    assert state is not None
    fresh = renderer.render(SIZE, spp=6, resume="auto", state=state)  # there is none
    assert fresh.linear.tobytes() == whole.linear.tobytes() and not state.used
    part = renderer.render(SIZE, spp=2)
    assert part.film is not None
    state.save(part.film)
    again = renderer.checkpoint(tmp_path / "a.png")
    assert again is not None
    picture = renderer.render(SIZE, spp=6, resume="auto", state=again)
    assert again.used and again.path == state.path
    assert picture.linear.tobytes() == whole.linear.tobytes()
    with pytest.raises(ViewerError, match="needs a state to look for"):
        renderer.render(SIZE, resume="auto")


@pytest.mark.usefixtures("device")
def test_the_command_says_what_is_there_and_takes_it(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)

    def run(output: str, spp: int, *more: str) -> list[str]:
        small = ("--size", "8x6", "--machine", "singlepass", "--depth", "1", "--spp", str(spp))
        assert cli.main(["render", "cornell", "-o", output, *small, *more]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(f"{output}: 8 x 6, {spp} samples")
        return err.splitlines()

    assert run("a.exr", 6) == []
    assert run("b.exr", 3) == []
    for name in ("a.png", "c.exr"):
        os.link("b.exr", f"{name}.state.exr")
        line = f"{name}.state.exr holds 3 samples of this picture; --resume auto goes on from there"
        assert run(name, 2) == [f"raystream: note: {line}"]
        assert os.path.samefile(f"{name}.state.exr", "b.exr")
        assert run(name, 6, "--resume", "auto") == [f"raystream: note: goes on from {name}.state.exr, 3 samples"]
        assert not os.path.exists(f"{name}.state.exr")
    assert read_exr("a.exr")[1]["R"].tobytes() == read_exr("c.exr")[1]["R"].tobytes()
    none = "raystream: note: --resume auto: no state to go on from; starts anew"
    assert run("d.png", 2, "--resume", "auto") == [none]
    seed, start = run("c.exr", 2, "--resume", "auto", "--seed", "3")
    assert "not resumed: c.exr: was rendered with seed 0, not 3" in seed.replace("'", "") and start == none
