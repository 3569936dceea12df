"""States of a render: names, digests, settings; read back to the bit, refused when they are another picture's."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.base.interrupts import Terminated
from raystream.film.error import Halves, SampleBudget
from raystream.film.files import checkpoint, image
from raystream.film.files.checkpoint import Checkpoint, film_layers, film_metadata, fingerprint, resume, save
from raystream.film.film import Film
from raystream.renderer.sampling import partial_film
from raystream.renderer.sampling.partial_film import FilmPart, film_by_ranges, sample_ranges
from tests.refusals import refusal

SIZE = (37, 29)
SETTINGS = {"scene": "cornell 0123456789abcdef", "program": "path", "depth": 5, "seed": 7, "sampler": "sobol"}


def filled(seed: int = 1, samples: int = 20) -> Film:
    film, rng = Film(*SIZE), np.random.default_rng(seed)
    for _ in range(samples):
        film.add(rng.gamma(0.5, 3.0, (SIZE[1], SIZE[0], 3)))
    return film


def same(a: Film, b: Film) -> None:
    for name, array in a.arrays.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array.view(np.uint32), b.arrays[name].view(np.uint32), err_msg=name)


def test_a_resumed_render_has_the_bits_of_an_unbroken_one(tmp_path) -> None:
    rng = np.random.default_rng(2)
    drawn = rng.gamma(0.5, 3.0, (30, SIZE[1], SIZE[0], 3)).astype(np.float32)
    whole, first = Film(*SIZE), Film(*SIZE)
    for k, sample in enumerate(drawn):
        whole.add(sample)
        if k < 11:
            first.add(sample)
    save(tmp_path / "a.exr", first, SETTINGS, {"depth": np.ones(SIZE[::-1], np.float32)}, {"camera": "0,0,1 0,0,0"})
    second = resume(tmp_path / "a.exr", SIZE, SETTINGS)
    same(second, first)
    assert second.compensation.any()
    for sample in drawn[11:]:
        second.add(sample)
    same(second, whole)
    np.testing.assert_array_equal(second.mean(), whole.mean())


def test_the_picture_is_an_ordinary_exr(tmp_path) -> None:
    film = filled()
    save(tmp_path / "a.exr", film, SETTINGS, {"depth": np.ones(SIZE[::-1], np.float32)}, {"camera": "front"})
    header, channels = image.read_exr(tmp_path / "a.exr")
    np.testing.assert_array_equal(np.stack([channels[c] for c in "RGB"], -1), film.mean())
    assert header["camera"] == "front" and header["film.setting.seed"] == "7"
    film_channels = {name for name in channels if name.startswith("film.")}
    assert len(film_channels) == 8 and set(channels) == film_channels | {"R", "G", "B", "depth"}
    np.testing.assert_array_equal(channels["film.count"], 20)


def test_the_state_of_the_most_samples_on_average_is_resumed(tmp_path, monkeypatch) -> None:
    """An even one of 5, not one that has 9 in a corner; and one that is named by a relative path is its picture's."""
    even, uneven = filled(samples=5), filled(samples=4)
    for _ in range(5):
        uneven.add(np.full((5, 6, 3), 0.25), 3, 4)
    state = Checkpoint(tmp_path / "a.png", SETTINGS)
    for name, film in (("a.png.state.exr", even), ("a.png.state.2.exr", uneven)):
        save(tmp_path / name, film, SETTINGS)
    assert state.find(SIZE)[:2] == (tmp_path / "a.png.state.exr", 5)
    monkeypatch.chdir(tmp_path)
    state.use("./a.png.state.2.exr")
    assert state.used and state.path == tmp_path / "a.png.state.2.exr"
    state.save(even)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.png.state.2.exr", "a.png.state.exr"]
    state.finish()
    assert [each.name for each in tmp_path.iterdir()] == ["a.png.state.exr"]  # the other render's stays


def test_files_without_a_film_are_refused(tmp_path) -> None:
    image.save(tmp_path / "plain.exr", filled().mean(), metadata={"seed": "7"})
    (tmp_path / "text.exr").write_text("a text")
    (tmp_path / "folder.exr").mkdir()
    (tmp_path / "empty.exr").write_bytes(b"")
    (tmp_path / "head.exr").write_bytes(b"v/1\x01" + bytes(30))
    for name, line in (
        ("plain", "holds no film to resume from"),
        ("text", "is not an EXR picture"),
        ("folder", "cannot be read: Is a directory"),
        ("empty", "is not an EXR picture"),
        ("missing", "cannot be read: No such file or directory"),
        ("head", "is a damaged EXR picture"),
    ):
        with pytest.raises(ViewerError, match=line):
            resume(tmp_path / f"{name}.exr", SIZE, SETTINGS)


def test_damage_is_found(tmp_path, capfd) -> None:
    path, film, found = tmp_path / "a.exr", filled(), 0
    save(path, film, SETTINGS)
    data = bytearray(path.read_bytes())
    for length in (len(data) - 1, len(data) - 100, len(data) // 2, 400, 60):
        path.write_bytes(data[:length])
        with pytest.raises(ViewerError, match=r"cut short|damaged"):
            resume(path, SIZE, SETTINGS)
    rng = np.random.default_rng(3)
    for at in rng.integers(len(data) // 2, len(data), 12):  # pixels, not the header
        broken = data.copy()
        broken[at] ^= 0x55
        path.write_bytes(broken)
        try:  # of the picture beside the film, which nothing is resumed from, a pixel may be another
            same(resume(path, SIZE, SETTINGS), film)
        except ViewerError as error:
            assert any(words in str(error) for words in ("damaged", "is not an EXR picture", "cut short"))
            found += 1
    assert found >= 8  # eight of eleven channels are the film's
    assert capfd.readouterr() == ("", "")  # nothing beside the one line


def test_states_are_not_packed_and_pictures_are(tmp_path) -> None:
    """Packing takes four fifths of the time after which a process that is asked to end is killed."""
    film = Film(64, 64)
    save(tmp_path / "a.exr", film, SETTINGS)
    image.save(tmp_path / "b.exr", film.mean(), film_layers(film))
    raw = sum(array.nbytes for array in (film.mean(), *film_layers(film).values()))
    assert os.path.getsize(tmp_path / "b.exr") < 0.1 * raw < raw < os.path.getsize(tmp_path / "a.exr")
    same(resume(tmp_path / "a.exr", (64, 64), SETTINGS), film)


def test_films_of_bounces_beside_it(tmp_path) -> None:
    films = {"film": filled(1), "film.bounce.0": filled(2), "film.bounce.10": filled(3)}
    layers, metadata = {}, {}
    for prefix, film in films.items():
        layers |= film_layers(film, prefix)
        metadata |= film_metadata(film, SETTINGS, prefix)
    image.save(tmp_path / "a.exr", films["film"].mean(), layers, metadata)
    for prefix, film in films.items():
        same(resume(tmp_path / "a.exr", SIZE, SETTINGS, prefix), film)
    with pytest.raises(ViewerError, match="holds no film"):
        resume(tmp_path / "a.exr", SIZE, SETTINGS, "film.bounce.1")


# -- every minute ----------------------------------------------------------------------------------------------------


def test_on_a_slow_disk_saving_takes_a_tenth_of_the_time(tmp_path, monkeypatch) -> None:
    """The pause before the first state is that of any disk; then it is ten times what saving has taken."""
    now = [100.0]

    def slow(*_) -> None:
        now[0] += 30.0

    def after(seconds: float, question) -> list[bool]:
        """The answers just before so many seconds have gone since, and then."""
        begin, answers = now[0], []
        for now[0] in (begin + seconds - 0.125, begin + seconds):
            answers.append(question())
        now[0] = begin
        return answers

    monkeypatch.setattr(checkpoint, "save", slow)
    state = Checkpoint(tmp_path / "a.png", SETTINGS, clock=lambda: now[0])
    assert after(60.0, state.due) == [False, True]
    assert after(2.0, lambda: state.worth((2000, 2000))) == [False, True]  # a guess, before it is known
    assert after(0.5, lambda: state.worth((1000, 1000))) == [False, True]
    stop = Terminated(15)  # a system kills what does not end soon
    assert after(2.0, lambda: state.worth((2000, 2000), stop)) == [False, True]
    assert after(2.5, lambda: state.worth((2500, 2000), stop)) == [False, False]
    assert after(2.5, lambda: state.worth((2500, 2000), KeyboardInterrupt())) == [False, True]
    for _ in range(2):
        now[0] += 1000.0
        state.save(filled(samples=2))
        assert after(300.0, state.due) == [False, True]
        assert after(30.0, lambda: state.worth((1000, 1000))) == [False, True]
        assert after(50.0, lambda: state.worth((10_000, 10_000))) == [False, True]
    monkeypatch.setattr(checkpoint, "save", lambda *_: None)
    state.save(filled(samples=2))
    assert after(60.0, state.due) == [False, True]


def test_the_old_state_stays_when_writing_fails(tmp_path, monkeypatch) -> None:
    state = Checkpoint(tmp_path / "a.exr", SETTINGS)
    state.save(filled(1))

    def half(part, *rest, **named):
        part.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(image, "_write_exr", half)
    with pytest.raises(KeyboardInterrupt):
        state.save(filled(2))
    assert os.listdir(tmp_path) == ["a.exr.state.exr"] and state.saved == 1
    same(resume(state.path, SIZE, SETTINGS), filled(1))


# -- fingerprints ----------------------------------------------------------------------------------------------------


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


SMALL = (4, 3)

FEW = {"scene": "cornell", "program": "path", "seed": 7}


def small_film(samples: int, seed: int = 1) -> Film:
    film, rng = Film(*SMALL), np.random.default_rng(seed)
    for _ in range(samples):
        film.add(rng.random((SMALL[1], SMALL[0], 3)))
    return film


def test_convergence_and_budget_are_kept(tmp_path: Path) -> None:
    film, rng = small_film(8), np.random.default_rng(2)
    plane = lambda: rng.random((SMALL[1], SMALL[0])).astype(np.float32)  # noqa: E731
    film.halves = Halves(plane(), plane(), {2: 0.5, 4: 0.25}, {2: 0.125}, {4: 0.0625})
    film.sample_budget = SampleBudget(plane(), plane(), 0.01, 1.5, 0.25)
    save(tmp_path / "a.exr", film, FEW)
    found = resume(tmp_path / "a.exr", SMALL, FEW)
    assert found.halves is not None and found.sample_budget is not None
    for name in ("sum", "count"):
        np.testing.assert_array_equal(getattr(found.halves, name), getattr(film.halves, name))
    for name in ("differences", "variances", "relative_std_errors"):
        assert getattr(found.halves, name) == getattr(film.halves, name)
    for name in ("granted", "half_difference"):
        np.testing.assert_array_equal(getattr(found.sample_budget, name), getattr(film.sample_budget, name))
    for name in ("error", "efficiency", "relative_std_error"):
        assert getattr(found.sample_budget, name) == getattr(film.sample_budget, name)


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
    film, zero = small_film(8), np.zeros((SMALL[1], SMALL[0]), np.float32)
    film.halves = Halves(zero, zero.copy(), {2: 0.5}, {2: 0.125}, {4: 0.0625})
    film.sample_budget = SampleBudget(zero.copy(), zero.copy(), 0.01, 1.5, 0.25)
    before = film_metadata(film, {})["film.check"]
    change(film)
    assert film_metadata(film, {})["film.check"] != before and len(before) == 16


@pytest.mark.parametrize(
    ("name", "value", "sound"),
    [
        *(("count", value, True) for value in (0, 65536)),
        *(("count", value, False) for value in (65537, -1, 0.5, np.inf)),
        ("sum", np.nan, False),
    ],
)
def test_numbers_of_a_film(name: str, value: float, sound: bool, tmp_path: Path) -> None:
    film = small_film(2)
    film.arrays[name][0, 0] = value
    save(tmp_path / "a.exr", film, FEW)
    with refusal("" if sound else "is damaged"):
        assert resume(tmp_path / "a.exr", SMALL, FEW).count[0, 0] == value


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
    save(tmp_path / "a.exr", small_film(1), before)
    with refusal(words):
        resume(tmp_path / "a.exr", SMALL, now)


def test_a_state_is_used_written_over_and_deleted(tmp_path: Path) -> None:
    target, old, foreign = tmp_path / "a.png", tmp_path / "a.png.state.exr", tmp_path / "b.exr"
    for path in (old, foreign):
        save(path, small_film(2), FEW)
    kept = Checkpoint(target, FEW)
    kept.use(foreign)
    assert not kept.used and kept.path == tmp_path / "a.png.state.2.exr"
    kept.finish()
    assert old.exists() and foreign.exists()
    kept.use(old)
    assert kept.used and kept.path == old
    film = small_film(4)
    film.add(np.ones((1, 1, 3)), 0, 0)
    kept.save(film)
    assert (kept.saved, kept.samples) == (1, 4) and resume(old, SMALL, FEW).count.max() == 5
    header = image.exr_header(old).texts
    assert (header["samples"], header["stopped by"]) == ("4", "nothing yet")
    kept.finish()
    kept.finish()
    assert not old.exists() and foreign.exists()
    # Where some pixels have no sample yet, those of the average count.
    film = Film(*SMALL)
    film.add(np.ones((SMALL[1], 2, 3)), 0, 0)
    film.add(np.ones((SMALL[1], 2, 3)), 0, 0)
    kept = Checkpoint(target, FEW)
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


@pytest.mark.parametrize(
    ("before", "samples", "length", "ranges"),
    [
        (0, 10, 4, [(0, 4), (4, 4), (8, 2)]),
        (3, 10, 4, [(3, 1), (4, 4), (8, 2)]),
        (4, 5, 4, [(4, 1)]),
        (0, 4, 4, [(0, 4)]),
        (5, 5, 4, []),
        (9, 5, 4, []),
    ],
)
def test_ranges_that_are_missing(before: int, samples: int, length: int, ranges: list[tuple[int, int]]) -> None:
    assert list(sample_ranges(before, samples, length)) == ranges


class Saving:
    """A checkpoint's file: which counts it was given, whether it is due at each range and worth it at the end."""

    def __init__(self, due: list[bool], worth: bool = True) -> None:
        self.turns, self.kept, self.counts = iter(due), worth, list[float]()

    def due(self) -> bool:
        return next(self.turns)

    def worth(self, size: tuple[int, int], stop: BaseException) -> bool:
        assert isinstance(stop, KeyboardInterrupt)
        return self.kept

    def save(self, film: Film) -> None:
        self.counts.append(float(film.count.min()))


def parts(monkeypatch: pytest.MonkeyPatch, stops_at: int = 99) -> list[tuple[int, int]]:
    """The ranges that are rendered, each without work."""
    ranges: list[tuple[int, int]] = []

    def film_of_part(renderer: Any, part: FilmPart, stats: Any, progress: Any) -> Film:
        if part.first >= stops_at:
            raise KeyboardInterrupt
        ranges.append((part.first, part.samples))
        film = Film(*part.size)
        film.count[:] = part.samples
        progress(0.5)
        return film

    monkeypatch.setattr(partial_film, "film_of_part", film_of_part)
    monkeypatch.setattr(partial_film, "check_ranges", lambda renderer, option: None)
    monkeypatch.setattr(Film, "join", lambda film, other: film.count.__iadd__(other.count), raising=True)
    return ranges


def test_a_film_is_saved_where_that_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    ranges, state, told = parts(monkeypatch), Saving([False, True, True]), list[tuple[float, str]]()
    film = film_by_ranges(
        SimpleNamespace(), FilmPart((3, 2), 10), 4, state=state, progress=lambda *line: told.append(line)
    )
    assert ranges == [(0, 4), (4, 4), (8, 2)] and state.counts == [8.0, 10.0] and np.all(film.count == 10)
    assert told == [(0.2, "0 of 10 samples"), (0.6, "4 of 10 samples"), (0.9, "8 of 10 samples")]


@pytest.mark.parametrize(("stops_at", "worth", "counts"), [(4, True, [4.0]), (4, False, []), (0, True, [])])
def test_a_film_is_saved_on_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, stops_at: int, worth: bool, counts: list[float]
) -> None:
    """If it has samples, and is worth it."""
    parts(monkeypatch, stops_at)
    state = Saving([False] * 3, worth)
    with pytest.raises(KeyboardInterrupt):
        film_by_ranges(SimpleNamespace(), FilmPart((3, 2), 10), 4, state=state)
    assert state.counts == counts
