"""Motion pictures: numbered picture files, .mp4 and .gif; each file written whole or not at all.

| extension | content | library |
|---|---|---|
| .png, .exr, .npz with %d or %04d in the name | one picture for each frame | `raystream.film.files.image` |
| .mp4 | H.264, 4:2:0, BT.709 primaries and matrix, sRGB curve | the program ffmpeg, which imageio-ffmpeg brings |
| .gif | 256 colours of each picture's own, dithered; endless | Pillow |
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.interrupts import child_process
from raystream.film.files import image

if TYPE_CHECKING:
    from PIL import Image

MOVIES = (".mp4", ".gif")
# GIF delays are hundredths of a second, and viewers slow down those below two.
FASTEST_GIF = 50.0
# x264's constant rate factor: 0 is lossless, 23 the default; 18 is hard to tell from the originals.
QUALITY = 18
# Colour tags of the file, which players would else guess from its size.
_TAGS = "setparams=color_primaries=bt709:color_trc=iec61966-2-1:colorspace=bt709:range=limited"

_NUMBER = re.compile(r"%(0?[1-9])?d")
_PATTERN_HINT = "such as frame_%04d.png, or a movie ending in .mp4 or .gif"


def is_movie(path: str | os.PathLike[str]) -> bool:
    """Whether the extension is a movie's."""
    return os.path.splitext(os.fspath(path))[1].lower() in MOVIES


def frame_path(pattern: str, frame: int) -> str:
    """The file of a frame: ``%d`` in the pattern's file name is its number, ``%04d`` padded to four digits. Raises
    ViewerError unless there is exactly one."""
    folder, name = os.path.split(pattern)
    matches = list(_NUMBER.finditer(name))
    if len(matches) != 1:
        what = "no %d" if not matches else f"{len(matches)} times %d"
        raise ViewerError(pattern, f"{what} in the file name for the frame's number", _PATTERN_HINT)
    digits = format(frame, matches[0][1] or "")
    return os.path.join(folder, name[: matches[0].start()] + digits + name[matches[0].end() :])


def check_output(path: str, frames: range, size: tuple[int, int], fps: float, layers: Iterable[str] = ()) -> None:
    """Check before rendering that these frames of ``size`` (width, height) can be written to ``path``. Raises
    ViewerError for a pattern without a number, an unknown extension, a missing folder or library, no permission, layers
    beyond the format, and a movie's invalid frame rate or size."""
    if not is_movie(path):
        image.check_path(frame_path(path, frames[-1]), layers)
        return
    names, ending = list(layers), os.path.splitext(path)[1].lower()
    if names:
        raise ViewerError(path, f"a movie cannot hold the layers {', '.join(names)}", "write frame_%04d.exr or .npz")
    if ending == ".gif" and fps > FASTEST_GIF:
        raise ViewerError(path, f"{fps:g} frames a second", f"a GIF shows {FASTEST_GIF:g} at most; give --fps")
    if ending == ".mp4":
        if size[0] % 2 or size[1] % 2:
            what = f"a size of {size[0]}x{size[1]}; H.264 shares colours among 2 x 2 pixels"
            raise ViewerError(path, what, f"give --size {size[0] + size[0] % 2}x{size[1] + size[1] % 2}")
        _ffmpeg(path)
    image.begin_part(image.checked_path(path, MOVIES)).end()


def write_movie(path: str, pictures: Iterable[NDArray[np.uint8]], fps: float) -> None:
    """Write pictures (H, W, 3), 8-bit sRGB, all of one size, as a movie in the format of its extension. A GIF takes a
    byte of memory per pixel of every frame until the end. The old file stays until the new one is complete, also when
    ``pictures`` raises. Raises ViewerError when it cannot be written."""
    target = image.checked_path(path, MOVIES)
    write = _write_mp4 if target.suffix.lower() == ".mp4" else _write_gif
    image.write_whole(target, lambda part: write(part, pictures, fps))


def _ffmpeg(path: str) -> str:
    """The ffmpeg program that encodes H.264; raises ViewerError without one."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return get_ffmpeg_exe()
    except ImportError:
        what = "an .mp4 needs the package imageio-ffmpeg"
    except RuntimeError:
        what = "imageio-ffmpeg has no ffmpeg program for this machine"
    raise ViewerError(path, what, "pip install 'raystream[video]', or write a .gif or frame_%04d.png")


def _write_mp4(part: Path, pictures: Iterable[NDArray[np.uint8]], fps: float) -> None:
    import subprocess
    import tempfile

    frames = iter(pictures)
    first = next(frames)
    height, width = first.shape[:2]
    command = [_ffmpeg(str(part)), "-loglevel", "error", "-y"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:.10g}", "-i", "pipe:0"]
    command += ["-vf", f"scale=flags=accurate_rnd+full_chroma_int:out_color_matrix=bt709:out_range=limited,{_TAGS}"]
    command += ["-c:v", "libx264", "-preset", "medium", "-crf", str(QUALITY), "-pix_fmt", "yuv420p"]
    command += ["-movflags", "+faststart", "-f", "mp4", str(part)]
    with tempfile.TemporaryFile() as log:
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": log}
        with child_process(command, **options) as process:
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # ffmpeg has given up; its error follows
                for picture in chain([first], frames):
                    process.stdin.write(np.ascontiguousarray(picture, np.uint8).data)
                process.stdin.close()
            code = process.wait()
        if code:
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()
            # The first line is the cause, after a prefix such as "[libx264 @ 0x55d0c8] ".
            cause = re.sub(r"^(\[.*?\] )+", "", lines[0]) if lines else f"exit code {code}"
            raise OSError(f"ffmpeg: {cause}")


def _write_gif(part: Path, pictures: Iterable[NDArray[np.uint8]], fps: float) -> None:
    from PIL import Image

    frames = [_indexed(Image.fromarray(picture)) for picture in pictures]
    # Whole hundredths of a second, rounded so that the total duration keeps the rate.
    ends = np.rint(100.0 / fps * np.arange(len(frames) + 1)).astype(int)
    delays = [int(delay) * 10 for delay in np.diff(ends)]
    with open(part, "wb") as file:
        frames[0].save(
            file, format="GIF", save_all=True, append_images=frames[1:], duration=delays, loop=0, optimize=False
        )


def _indexed(picture: Image.Image) -> Image.Image:
    from PIL import Image

    # A palette alone leaves bands in soft shading; with a palette given, quantize dithers.
    palette = picture.quantize(256, method=Image.Quantize.MEDIANCUT)
    return picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)
