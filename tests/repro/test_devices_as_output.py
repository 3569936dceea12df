"""A picture or statistics for a device or a FIFO replaced it by a file, as root even /dev/null."""

from __future__ import annotations

import io
import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raystream.base import part_file
from raystream.base.errors import ViewerError
from raystream.film.files import image, movie

PICTURE = np.random.default_rng(0).random((4, 5, 3)).astype(np.float32)

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")


def _received(path: Path, write) -> bytes:
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
    path = tmp_path / name
    os.mkfifo(path)
    image.check_path(path)
    data = _received(path, lambda: image.save(path, PICTURE))
    assert np.asarray(Image.open(io.BytesIO(data))).shape == (4, 5, 3)
    assert path.is_fifo() and os.listdir(tmp_path) == [name]
    with pytest.raises(ViewerError, match="a PNG file cannot hold the layers depth"):
        image.check_path(path, ["depth"])


def test_by_its_ending(tmp_path) -> None:
    path = tmp_path / "pipe.exr"
    os.mkfifo(path)
    data = _received(path, lambda: image.save(path, PICTURE, {"depth": PICTURE[..., 0]}))
    (tmp_path / "a.exr").write_bytes(data)
    np.testing.assert_array_equal(image.read_exr(tmp_path / "a.exr")[1]["G"], PICTURE[..., 1])


def test_statistics_and_movies(tmp_path) -> None:
    text, film = tmp_path / "text", tmp_path / "film.gif"
    os.mkfifo(text)
    os.mkfifo(film)
    part_file.check_path(str(text))
    assert _received(text, lambda: part_file.write(str(text), "{}")) == b"{}\n"
    frames = [np.zeros((4, 6, 3), np.uint8)] * 2
    assert _received(film, lambda: movie.write_movie(str(film), frames, 10)).startswith(b"GIF8")
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


def test_a_reader_that_has_gone(tmp_path) -> None:
    path = tmp_path / "pipe.npz"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    gone = threading.Timer(0.2, os.close, [reader])
    gone.start()
    with pytest.raises(ViewerError, match=r"cannot be written: Broken pipe$"):
        image.save(path, np.zeros((300, 300, 3), np.float32))  # more than a pipe holds
    gone.join()
