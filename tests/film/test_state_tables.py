"""States of renders by tables: names, digests, settings, the best of several, when one is due."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.film.error import Halves, SampleBudget
from raystream.film.files import checkpoint, image
from raystream.film.files.checkpoint import Checkpoint, film_layers, film_metadata, fingerprint, resume, save
from raystream.film.film import Film


def test_names_of_states(tmp_path: Path) -> None:
    """The first free one; of this picture alone, in order."""
    target = tmp_path / "a.png"
    made = []
    for name in ("a.png.state.exr", "a.png.state.2.exr", "a.png.state.3.exr"):
        assert checkpoint.free_state(target) == tmp_path / name
        (tmp_path / name).write_bytes(b"")
        made.append(tmp_path / name)
    for other in (
        "b.png.state.exr",
        "a.png.state.0.exr",
        "a.png.state.01.exr",
        "a.png.state.x.exr",
        "a.png.state.exr.part",
    ):
        (tmp_path / other).write_bytes(b"")
    (tmp_path / "aXpng.state.exr").write_bytes(b"")
    assert checkpoint.existing_states(target) == sorted(made)
    (tmp_path / "a.png.state.2.exr").unlink()
    assert checkpoint.free_state(target) == tmp_path / "a.png.state.2.exr"
    (tmp_path / "a.png.state.2.exr").symlink_to("nowhere")
    assert checkpoint.free_state(target) == tmp_path / "a.png.state.4.exr"
    assert checkpoint.existing_states(tmp_path / "none" / "a.png") == []


SIZE = (4, 3)

SETTINGS = {"scene": "cornell", "program": "path", "seed": 7}


def filled(samples: int, seed: int = 1) -> Film:
    film, rng = Film(*SIZE), np.random.default_rng(seed)
    for _ in range(samples):
        film.add(rng.random((SIZE[1], SIZE[0], 3)))
    return film


def test_convergence_and_budget_are_kept(tmp_path: Path) -> None:
    film, rng = filled(8), np.random.default_rng(2)
    plane = lambda: rng.random((SIZE[1], SIZE[0])).astype(np.float32)  # noqa: E731
    film.halves = Halves(plane(), plane(), {2: 0.5, 4: 0.25}, {2: 0.125}, {4: 0.0625})
    film.sample_budget = SampleBudget(plane(), plane(), 0.01, 1.5, 0.25)
    save(tmp_path / "a.exr", film, SETTINGS)
    found = resume(tmp_path / "a.exr", SIZE, SETTINGS)
    assert found.halves is not None and found.sample_budget is not None
    for name in ("sum", "count"):
        np.testing.assert_array_equal(getattr(found.halves, name), getattr(film.halves, name))
    for name in ("differences", "variances", "relative_std_errors"):
        assert getattr(found.halves, name) == getattr(film.halves, name)
    for name in ("granted", "half_difference"):
        np.testing.assert_array_equal(getattr(found.sample_budget, name), getattr(film.sample_budget, name))
    for name in ("error", "efficiency", "relative_std_error"):
        assert getattr(found.sample_budget, name) == getattr(film.sample_budget, name)
    told = film_metadata(film, SETTINGS)
    assert {key: told[key] for key in told if key != "film.check"} == {
        "film.setting.scene": "cornell",
        "film.setting.program": "path",
        "film.setting.seed": "7",
        "film.differences": "2:0.5 4:0.25",
        "film.variances": "2:0.125",
        "film.doubts": "4:0.0625",
        "film.adaptive": "0.01 1.5 0.25",
    }
    assert set(film_layers(film, "film.bounce.0")) == {
        f"film.bounce.0.{name}"
        for name in ("sum", "compensation", "square", "count", "half.sum", "half.count", "granted", "apart")
    }
    assert set(film_metadata(film, {}, "film.bounce.0")) >= {"film.bounce.0.check", "film.bounce.0.adaptive"}


@pytest.mark.parametrize(
    "change",
    [
        lambda film: film.halves.sum.__setitem__((0, 0), 9),
        lambda film: film.halves.count.__setitem__((0, 0), 9),
        lambda film: film.halves.differences.__setitem__(2, 9.0),
        lambda film: film.halves.variances.__setitem__(2, 9.0),
        lambda film: film.halves.relative_std_errors.__setitem__(4, 9.0),
        lambda film: film.sample_budget.granted.__setitem__((0, 0), 9),
        lambda film: film.sample_budget.half_difference.__setitem__((0, 0), 9),
        lambda film: setattr(film, "sample_budget", replace(film.sample_budget, error=9.0)),
        lambda film: setattr(film, "sample_budget", replace(film.sample_budget, efficiency=9.0)),
        lambda film: setattr(film, "sample_budget", replace(film.sample_budget, relative_std_error=9.0)),
        lambda film: film.arrays["square"].__setitem__((0, 0), 9),
        lambda film: film.arrays["compensation"].__setitem__((0, 0, 1), 9),
    ],
)
def test_every_part_of_a_film_is_in_its_digest(change: Any) -> None:
    film, zero = filled(8), np.zeros((SIZE[1], SIZE[0]), np.float32)
    film.halves = Halves(zero, zero.copy(), {2: 0.5}, {2: 0.125}, {4: 0.0625})
    film.sample_budget = SampleBudget(zero.copy(), zero.copy(), 0.01, 1.5, 0.25)
    before = film_metadata(film, {})["film.check"]
    change(film)
    assert film_metadata(film, {})["film.check"] != before and len(before) == 16


@pytest.mark.parametrize(
    ("text", "levels"),
    [("", {}), ("2:0.5 8:1e-3", {2: 0.5, 8: 0.001}), ("2:x", {}), ("2", {}), ("x:1", {}), ("2:1 3", {})],
)
def test_levels_of_texts(text: str, levels: dict[int, float]) -> None:
    assert checkpoint._levels(text) == levels


@pytest.mark.parametrize(
    ("text", "numbers"), [("1 2", [1, 2]), ("1 2 3", [1, 2, 3]), ("", []), ("1", []), ("1 2 3 4", []), ("1 x", [])]
)
def test_numbers_of_texts(text: str, numbers: list[float]) -> None:
    assert checkpoint._numbers(text) == numbers


@pytest.mark.parametrize(
    ("name", "value", "sound"),
    [
        *(("count", value, True) for value in (0, 65536)),
        *(("count", value, False) for value in (65537, -1, 0.5, np.inf)),
        ("sum", np.nan, False),
    ],
)
def test_numbers_of_a_film(name: str, value: float, sound: bool, tmp_path: Path) -> None:
    film = filled(2)
    film.arrays[name][0, 0] = value
    save(tmp_path / "a.exr", film, SETTINGS)
    if sound:
        assert resume(tmp_path / "a.exr", SIZE, SETTINGS).count[0, 0] == value
    else:
        with pytest.raises(ViewerError, match="is damaged"):
            resume(tmp_path / "a.exr", SIZE, SETTINGS)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({"content": "a"}, {"content": "b"}, r"was rendered from another scene.* \(start a new render\)"),
        ({"seed": 7}, {"seed": 8}, r"seed '7', not '8' \(start a new render, or give --seed 7|seed=7"),
        ({"seed": 7}, {}, "seed '7', not 'none'"),
        ({}, {"seed": 7}, r"seed 'none', not '7' \(start a new render, or change it back\)"),
        ({"own_thing": "x" * 41}, {"own_thing": "y" * 40}, f"own thing '{'x' * 36} ...', not '{'y' * 40}'"),
        ({"depth": 5, "program": "cast"}, {"program": "cast"}, ""),
        ({"depth": 5, "program": "path"}, {"program": "path"}, "depth '5', not 'none'"),
    ],
)
def test_settings_that_differ(before: dict, now: dict, words: str, tmp_path: Path) -> None:
    save(tmp_path / "a.exr", filled(1), before)
    if words:
        with pytest.raises(ViewerError, match=words):
            resume(tmp_path / "a.exr", SIZE, now)
    else:
        resume(tmp_path / "a.exr", SIZE, now)


def test_the_best_of_several_states(tmp_path: Path) -> None:
    target = tmp_path / "a.exr"
    for name, samples in (("a.exr.state.exr", 3), ("a.exr.state.2.exr", 5), ("a.exr.state.3.exr", 4)):
        save(tmp_path / name, filled(samples), SETTINGS)
    kept = Checkpoint(target, SETTINGS)
    assert kept.find(SIZE) == (tmp_path / "a.exr.state.2.exr", 5, [])
    save(target, filled(6), SETTINGS)
    assert kept.find(SIZE) == (target, 6, [])
    assert kept.find(SIZE, pictures=False) == (tmp_path / "a.exr.state.2.exr", 5, [])
    (tmp_path / "a.exr.state.2.exr").write_bytes(b"x")
    best, samples, wrong = kept.find(SIZE, pictures=False)
    assert (best, samples, len(wrong)) == (tmp_path / "a.exr.state.3.exr", 4, 1) and "state.2.exr" in wrong[0]
    none = Checkpoint(tmp_path / "b.exr", SETTINGS).find(SIZE)
    assert none == (None, 0, [])
    other = Checkpoint(target, {**SETTINGS, "seed": 1}).find(SIZE)
    assert other[:2] == (None, 0) and len(other[2]) == 4


def test_a_state_is_used_written_over_and_deleted(tmp_path: Path) -> None:
    target, old, foreign = tmp_path / "a.png", tmp_path / "a.png.state.exr", tmp_path / "b.exr"
    for path in (old, foreign):
        save(path, filled(2), SETTINGS)
    kept = Checkpoint(target, SETTINGS)
    kept.use(foreign)
    assert not kept.used and kept.path == tmp_path / "a.png.state.2.exr"
    kept.finish()
    assert old.exists() and foreign.exists()
    kept.use(old)
    assert kept.used and kept.path == old
    film = filled(4)
    film.add(np.ones((1, 1, 3)), 0, 0)
    kept.save(film)
    assert (kept.saved, kept.samples) == (1, 4) and resume(old, SIZE, SETTINGS).count.max() == 5
    header = image.exr_header(old).texts
    assert (header["samples"], header["stopped by"]) == ("4", "nothing yet")
    kept.finish()
    kept.finish()
    assert not old.exists() and foreign.exists()
    # Where some pixels have no sample yet, those of the average count.
    film = Film(*SIZE)
    film.add(np.ones((SIZE[1], 2, 3)), 0, 0)
    film.add(np.ones((SIZE[1], 2, 3)), 0, 0)
    kept = Checkpoint(target, SETTINGS)
    kept.save(film)
    assert (kept.path, kept.samples) == (old, 1)


class Way(Enum):
    UP = 1
    DOWN = 2


@dataclass
class Point:
    x: Any = 0
    y: Any = 0


@dataclass
class Place:
    x: Any = 0
    y: Any = 0


CONTENTS = [
    None, True, False, 0, 1, 2.0, 2.5, "", "1", "a", "ab", Way.UP, Way.DOWN, (), (1,), (1, 2), ((1,), 2), (1, (2,)),
    ("a", "b"), ("ab",), {}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 2}, Point(), Point(1), Point(0, 1), Place(),
    Point("a"), Point(None), Point(Way.UP), Point((1,)), Point(Point()), np.zeros(2), np.zeros(3), np.zeros((1, 2)),
    np.zeros(2, np.float32), np.ones(2), Point(np.zeros(2)), Point(np.ones(2)), Point(np.zeros(2, np.int8)),
]  # fmt: skip


def test_contents_have_fingerprints_of_their_own() -> None:
    found = [fingerprint(each) for each in CONTENTS]
    assert len(set(found)) == len(CONTENTS) and all(len(each) == 16 and int(each, 16) >= 0 for each in found)
    assert found == [fingerprint(each) for each in CONTENTS]
    assert fingerprint([1, 2]) == fingerprint((1, 2)) and fingerprint("a") == fingerprint(b"a")
    assert fingerprint(np.float64(2.5)) == fingerprint(2.5) and fingerprint(1, 2) != fingerprint(2, 1)
    for part in (object(), {1, 2}):
        with pytest.raises(TypeError, match="no fingerprint of a"):
            fingerprint(part)
