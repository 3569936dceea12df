"""Files that unfold to more than they hold, or are no files; films whose error has no end or none."""

from __future__ import annotations

import io
import json
import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import raystream.options.table  # noqa: F401  # messages write options as it does
from raystream.base import part_file
from raystream.base.errors import ViewerError
from raystream.film.adaptive import MIN_SAMPLES, grant_samples, next_round, store_halves
from raystream.film.files import image, movie
from raystream.film.files.image import write_png
from raystream.film.film import Film
from raystream.formats import files, load


def bare(folder: Path, count: int) -> Path:
    """A triangle list of so many vertices, none of which the file holds."""
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"componentType": 5126, "type": "VEC3", "count": count}],
    }
    path = folder / "scene.gltf"
    path.write_text(json.dumps(document).ljust(714))
    return path


def test_accessors_without_data_count_to_the_element(tmp_path, monkeypatch) -> None:
    """A glTF file of 714 bytes became 5.6 million triangles: zeros of accessors without a buffer view were free."""
    monkeypatch.setattr(files, "_EMPTY_BYTES", 12 * 10_002 - 16 * 714)  # the file itself counts 16 times
    assert load(bare(tmp_path, 10_002)).triangle_count == 3334
    with pytest.raises(ViewerError, match="expands to"):
        load(bare(tmp_path, 10_003))


GOAL = 0.02


def test_noise_that_no_neighbours_tell_of_comes_to_an_end() -> None:
    """Noise within one block of 8 x 8 pixels, which none around it has: its neighbours told of none, so that it got no
    more samples, all others got ever more, and the picture never came to its error."""
    rng, side = np.random.default_rng(0), 40
    deviation = np.full((side, side), 0.01)
    deviation[17:23, 17:23] = 1.5  # within the block from (16, 16) to (23, 23)
    film = Film(side, side)

    def add(chosen: np.ndarray, samples: int) -> None:
        before = {name: array.copy() for name, array in film.arrays.items()}
        for _ in range(samples):
            values = np.where(chosen, 1 + deviation * rng.standard_normal(deviation.shape), 0)
            film.add(np.repeat(values[..., None], 3, axis=-1))
        for name, array in film.arrays.items():
            array[~chosen] = before[name][~chosen]

    everywhere = np.ones(deviation.shape, bool)
    add(everywhere, MIN_SAMPLES // 2)
    film.store_half()
    add(everywhere, MIN_SAMPLES // 2)
    grant_samples(film, GOAL)
    assert film.sample_budget is not None and film.error() > GOAL
    # 36 pixels of 1,600 leave 0.04 after 32 samples; all of the picture with 128 would leave 0.02.
    for _ in range(40):
        chosen, end = next_round(film.count, film.sample_budget.granted, 4096)
        if end:
            store_halves(film, chosen)
            add(chosen, end - int(film.count[chosen].max()))
            continue
        grant_samples(film, GOAL)
        if (film.sample_budget.granted == film.count).all():
            break
    # A single block tells its error within 0.7 of it, so that the estimate is to be 1.7 times smaller than the goal.
    assert film.error() <= GOAL and film.count.max() <= 2048


def test_one_bright_sample_is_no_end_of_noise() -> None:
    """A sample just below what counts as infinite: its variance was that of a luminance with a bound, the picture's
    mean was not, so that the error was as good as none and a render ended."""
    film, rng = Film(5, 4), np.random.default_rng(0)
    for number in range(16):
        sample = rng.random((4, 5, 3))
        if number == 9:
            sample[1, 2] = 1e30
        film.add(sample)
    # All light is one of 16 samples of a pixel: its standard error is its mean, or a sixteenth where both are at the
    # bound; of 20 pixels sqrt(20) times that.
    assert 0.2 < film.error() < 5


def test_keys_that_imagemagick_takes_are_named_as_ours() -> None:
    """ImageMagick refused our PNGs, or took their settings: it takes text chunks of some keys, such as `background`,
    for settings of its own."""
    file = io.BytesIO()
    write_png(file, np.zeros((1, 1, 3), np.uint8), {"background": "none", "depth": "3", "scene": "cornell"})
    with Image.open(file) as picture:
        texts = {key: value for key, value in picture.info.items() if isinstance(value, str)}
    assert texts == {"raystream:background": "none", "raystream:depth": "3", "scene": "cornell"}


PICTURE = np.random.default_rng(0).random((4, 5, 3)).astype(np.float32)


def received(path: Path, write) -> bytes:
    """What comes out of a FIFO while something is written to it."""
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    try:
        write()
    finally:
        if not found and not stat.S_ISFIFO(path.stat().st_mode):  # replaced: let the reader go
            os.close(os.open(path, os.O_WRONLY))
        reader.join(600)
    return found[0]


@pytest.mark.parametrize("name", ["pipe.png", "pipe", "pipe.xyz"])
def test_a_fifo_gets_the_picture(tmp_path, name) -> None:
    """A picture or statistics for a device or a FIFO replaced it by a file, as root even /dev/null."""
    path = tmp_path / name
    os.mkfifo(path)
    image.check_path(path)
    data = received(path, lambda: image.save(path, PICTURE))
    assert np.asarray(Image.open(io.BytesIO(data))).shape == (4, 5, 3)
    assert path.is_fifo() and os.listdir(tmp_path) == [name]
    with pytest.raises(ViewerError, match="a PNG file cannot hold the layers depth"):
        image.check_path(path, ["depth"])


def test_statistics_and_movies(tmp_path) -> None:
    text, film = tmp_path / "text", tmp_path / "film.gif"
    os.mkfifo(text)
    os.mkfifo(film)
    part_file.check_path(str(text))
    assert received(text, lambda: part_file.write(str(text), "{}")) == b"{}\n"
    frames = [np.zeros((4, 6, 3), np.uint8)] * 2
    assert received(film, lambda: movie.write_movie(str(film), frames, 10)).startswith(b"GIF8")
    assert text.is_fifo() and film.is_fifo() and len(os.listdir(tmp_path)) == 2


def test_a_device_stays_one(tmp_path) -> None:
    node, link = tmp_path / "null", tmp_path / "link.npz"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.open("wb").close()
    except OSError:
        pytest.skip("devices are for root, where the file system allows them")
    link.symlink_to(node)
    for path in (node, link):
        image.check_path(path)
        image.save(path, PICTURE)
        part_file.write(str(path), "{}")
    assert stat.S_ISCHR(node.stat().st_mode) and link.is_symlink() and len(os.listdir(tmp_path)) == 2
