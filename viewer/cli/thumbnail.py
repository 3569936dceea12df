"""``raystream thumbnail``: a small picture of a file, for file managers.

By the *Thumbnail Managing Standard* (freedesktop.org, 0.9.0, 2020) it is a PNG that names its file's URI and the time
of its last change in text chunks, and is readable by its owner alone. File managers call the programs of
``.thumbnailer`` entries, with a URI, an output file and a size.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from raystream.base import part_file
from raystream.base.errors import ViewerError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

MAX_THUMBNAIL_SIDE = 1024  # pixels: the standard's largest size
QUALITY, SAMPLES = "draft", 8
TEXELS_PER_PIXEL = 4  # of a texture's longest side, by the thumbnail's
# Of freedesktop's shared-mime-info, and those of PLY that other viewers register.
TYPES = ("model/gltf-binary", "model/gltf+json", "model/obj", "model/stl", "model/ply", "application/extension-ply")
ENTRY = f"""[Thumbnailer Entry]
TryExec=raystream
Exec=raystream thumbnail %u %o %s
MimeType={";".join(TYPES)};"""


def thumbnail(arguments: Namespace) -> bool:
    """Write the thumbnail of a file, or print the entry that file managers look for."""
    if arguments.entry:
        print(ENTRY)
        return True
    for name in ("input", "output", "size"):
        if getattr(arguments, name) is None:
            raise ViewerError("thumbnail", f"the {name} is missing", "such as raystream thumbnail a.glb a.png 256")
    path, edge = local_path(arguments.input), _parse_side(arguments.size)
    part_file.check_path(arguments.output)
    try:
        changed = os.stat(path).st_mtime
    except (OSError, ValueError) as error:
        raise ViewerError(path, getattr(error, "strerror", None) or str(error)) from None
    uri = arguments.input if _is_uri(arguments.input) else Path(path).absolute().as_uri()
    from raystream.base import start
    from raystream.formats import load
    from raystream.renderer.empty_view import add_default_sky
    from raystream.renderer.renderer import Renderer

    start.finish_loading()
    renderer = Renderer(load(path, lenient=True).with_parts(framed=True), max_texture=TEXELS_PER_PIXEL * edge)
    add_default_sky(renderer, (edge, edge))
    picture = renderer.render((edge, edge), spp=SAMPLES, quality=QUALITY)
    _write(arguments.output, picture.srgb8(), {"Thumb::URI": uri, "Thumb::MTime": str(int(changed))})
    return True


def local_path(name: str) -> str:
    """The path of a file, by its name or its ``file:`` URI. Raises ViewerError for a file elsewhere."""
    if not _is_uri(name):
        return name
    uri = urlsplit(name)
    if uri.scheme.lower() != "file" or uri.netloc not in ("", "localhost"):
        raise ViewerError(name, "is no file of this machine", "give a path or a file:// URI")
    from urllib.request import url2pathname

    return url2pathname(uri.path)


def _is_uri(name: str) -> bool:
    """Whether it begins like one, and is no file of that name."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", name) is not None and not os.path.exists(name)


def _parse_side(text: str) -> int:
    """The thumbnail's width and height, pixels. Raises ViewerError for other texts."""
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= MAX_THUMBNAIL_SIDE:
        raise ViewerError(f"size {text!r}", f"expected a whole number from 1 to {MAX_THUMBNAIL_SIDE}")
    return int(text)


def _write(path: str, pixels: NDArray[np.uint8], texts: Mapping[str, str]) -> None:
    """A PNG, whatever its name; whole or not at all."""
    from raystream.film.files.image import write_png, write_whole

    def write(part: Path) -> None:
        part.chmod(0o600)
        with open(part, "wb") as file:
            write_png(file, pixels, texts)

    write_whole(Path(os.path.realpath(path)), write)
