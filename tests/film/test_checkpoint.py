"""States of a render: read back to the bit, refused when they are another picture's, whole or not at all."""

from __future__ import annotations

import os

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.base.interrupts import Terminated
from raystream.film.files import checkpoint, image
from raystream.film.files.checkpoint import Checkpoint, film_layers, film_metadata, resume, save
from raystream.film.film import Film

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


def test_uneven_counts_are_kept(tmp_path) -> None:
    """A state from the middle of a sample: some tiles have it, others do not yet."""
    film = filled()
    film.add(np.full((5, 6, 3), 0.25), 3, 4)
    save(tmp_path / "a.exr", film, SETTINGS)
    same(resume(tmp_path / "a.exr", SIZE, SETTINGS), film)


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


def test_another_size_is_refused(tmp_path) -> None:
    save(tmp_path / "a.exr", filled(), SETTINGS)
    with pytest.raises(ViewerError, match=r"is 37 x 29 pixels, not 29 x 37 \(size='37x29'\)"):
        resume(tmp_path / "a.exr", SIZE[::-1], SETTINGS)


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
