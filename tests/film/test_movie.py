"""Movies and numbered pictures: names, delays, what is refused before any work, and what players will see."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.film.files.movie import check_output, frame_path, write_movie
from tests.signals import ctrl_c, gone, starts


def pictures(count: int, size: tuple[int, int] = (48, 32)) -> list[np.ndarray]:
    """A bright square that goes to the right over a soft gradient, 8 bit."""
    width, height = size
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    made = []
    for k in range(count):
        picture = np.stack([40 + x * 2, 60 + y * 3, np.full_like(x, 90)], axis=-1)
        picture[8:20, 4 + 3 * k : 16 + 3 * k] = (250, 180, 20)
        made.append(picture.astype(np.uint8))
    return made


@pytest.fixture
def ffmpeg():
    """The program that reads movies back; tests skip where the optional library is not there."""
    return pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed").get_ffmpeg_exe()


# Names


@pytest.mark.parametrize(
    ("pattern", "number", "path"),
    [
        ("frame_%04d.png", 7, "frame_0007.png"),
        ("frame_%04d.png", 12345, "frame_12345.png"),
        ("%d.exr", 0, "0.exr"),
        ("a/b%%/%3d of 100%.npz", 7, "a/b%%/  7 of 100%.npz"),
        ("50%_%02d.png", 3, "50%_03.png"),
        ("%d/x%d.png", 3, "%d/x3.png"),  # folders are not numbered
    ],
)
def test_frame_path(pattern, number, path):
    assert frame_path(pattern, number) == path


@pytest.mark.parametrize(
    "pattern", ["frame.png", "%d_%d.png", "%s.png", "%04x.png", "%099d.png", "%-4d.png", "%d/a.png"]
)
def test_patterns_without_one_number_are_refused(pattern):
    with pytest.raises(ViewerError, match=r"in the file name for the frame's number \(such as frame_%04d.png"):
        frame_path(pattern, 1)


@pytest.mark.parametrize(
    ("path", "size", "fps", "layers", "words"),
    [
        ("a.png", (8, 8), 30, (), "no %d in the file name"),
        ("%d.bmp", (8, 8), 30, (), "unknown picture format '.bmp'"),
        ("%d.png", (8, 8), 30, ("depth",), "PNG file cannot hold the layers depth"),
        ("no/%d.png", (8, 8), 30, (), "there is no folder"),
        ("%d_%d.png", (8, 8), 30, (), "2 times %d in the file name"),
        ("a.gif", (8, 8), 50.1, (), "50.1 frames a second .a GIF shows 50"),
        ("a.gif", (8, 8), 30, ("depth",), "a movie cannot hold the layers depth"),
        ("folder.gif", (8, 8), 30, (), "is a folder"),
        ("a.mp4", (9, 7), 30, (), "a size of 9x7; .* .give size='10x8'"),
        ("a.mp4", (9, 8), 30, (), "a size of 9x8; .* .give size='10x8'"),
        ("a.mp4", (8, 7), 30, (), "a size of 8x7; .* .give size='8x8'"),
    ],
)
def test_what_cannot_be_written_is_told_beforehand(path, size, fps, layers, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.gif").mkdir()
    with pytest.raises(ViewerError, match=words) as caught:
        check_output(path, range(3), size, fps, layers)
    assert "\n" not in str(caught.value)
    assert os.listdir() == ["folder.gif"]


def test_a_missing_library_is_told_beforehand(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)  # what import makes of a package that is not there
    with pytest.raises(ViewerError, match=r"needs the package imageio-ffmpeg \(pip install 'raystream\[video\]'"):
        check_output(str(tmp_path / "a.mp4"), range(3), (8, 8), 30)
    check_output(str(tmp_path / "a.gif"), range(3), (7, 5), 50)
    assert os.listdir(tmp_path) == []


# What players see


def test_gif(tmp_path):
    made = pictures(7)
    write_movie(str(tmp_path / "a.gif"), iter(made), 30)
    with Image.open(tmp_path / "a.gif") as movie:
        assert (movie.n_frames, movie.size, movie.info["loop"]) == (7, (48, 32), 0)
        for k, picture in enumerate(made):
            movie.seek(k)
            found = np.asarray(movie.convert("RGB")).astype(int)
            # 256 colours for 1,536 pixels of some 1,400: within a few codes each, and dithered evenly.
            assert np.abs(found - picture).max() <= 40
            assert np.abs((found - picture).mean(axis=(0, 1))).max() < 1.5
            assert np.abs(found[10:18, 6 + 3 * k : 14 + 3 * k] - (250, 180, 20)).max() <= 8


@pytest.mark.parametrize("fps", [30, 23.976])
def test_mp4(ffmpeg, tmp_path, fps):
    made = pictures(9, (64, 48))
    path = tmp_path / "a.mp4"
    check_output(str(path), range(9), (64, 48), fps)
    write_movie(str(path), iter(made), fps)
    assert os.listdir(tmp_path) == ["a.mp4"]
    # Every frame as it was encoded, none doubled or dropped.
    command = [ffmpeg, "-loglevel", "error", "-i", str(path), "-fps_mode", "passthrough"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True, timeout=300).stdout
    found = np.frombuffer(raw, np.uint8).reshape(-1, 48, 64, 3).astype(int)
    assert len(found) == 9
    difference = np.abs(found - np.array(made))
    # x264 at a rate factor of 18: a few codes; colours are stored for 2 x 2 pixels, so edges of the square differ more.
    # Taken for BT.601, or for full range, whole areas would be off by 10 to 20.
    assert difference.mean() < 3
    assert difference[:, 24:].max() <= 10
    for k, frame in enumerate(found):
        assert np.abs(frame[10:18, 8 + 3 * k : 14 + 3 * k].mean(axis=(0, 1)) - (250, 180, 20)).max() < 6
    told = subprocess.run([ffmpeg, "-i", str(path)], capture_output=True, text=True, timeout=300).stderr
    assert "bt709/bt709/iec61966-2-1" in told and "yuv420p(tv" in told
    assert float(re.search(r"([\d.]+) fps", told)[1]) == pytest.approx(fps, abs=0.01)


@pytest.mark.parametrize("ending", [".gif", ".mp4"])
@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_what_is_broken_off_leaves_the_old_file(ending, fault, tmp_path, request):
    if ending == ".mp4":
        request.getfixturevalue("ffmpeg")
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"old")

    def until_it_fails():
        yield from pictures(3)
        raise fault

    with pytest.raises(fault):
        write_movie(str(path), until_it_fails(), 30)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == [path.name]
    write_movie(str(path), iter(pictures(2)), 30)
    assert path.read_bytes() != b"old" and os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
def test_ctrl_c_while_ffmpeg_starts(ffmpeg, tmp_path):
    with starts(ctrl_c) as made:
        with pytest.raises(KeyboardInterrupt):
            write_movie(str(tmp_path / "a.mp4"), iter(pictures(3)), 30)
        assert len(made) == 1 and gone(made[0])
    assert os.listdir(tmp_path) == []


def test_what_ffmpeg_refuses_is_one_line(ffmpeg, tmp_path):
    with pytest.raises(ViewerError, match=r"a.mp4: cannot be written: ffmpeg: ") as caught:
        write_movie(str(tmp_path / "a.mp4"), iter(pictures(2, (47, 31))), 30)  # H.264 has no odd sizes in 4:2:0
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("fps", "delays"), [
    (10, [100] * 7), (50, [20] * 7), (25, [40] * 7), (30, [30, 40, 30, 30, 40, 30, 30]),
    (24, [40, 40, 40, 50, 40, 40, 40]), (0.5, [2000] * 7),
])  # fmt: skip
def test_delays_keep_the_rate(fps: float, delays: list[int], tmp_path: Path) -> None:
    """Hundredths of a second, whose ends are rounded: in all as long as the frames."""
    frames = [np.full((4, 6, 3), 40 * k, np.uint8) for k in range(7)]
    write_movie(str(tmp_path / "a.gif"), iter(frames), fps)
    with Image.open(tmp_path / "a.gif") as file:
        assert file.n_frames == 7 and file.info["loop"] == 0 and file.size == (6, 4)
        found = []
        for k in range(7):
            file.seek(k)
            found.append(file.info["duration"])
            assert (np.asarray(file.convert("RGB")) == 40 * k).all()
    assert found == delays
