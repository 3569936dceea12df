"""The Object File Format (.off): a line OFF, counts, vertices, polygons. An entry point of ``raystream.formats``."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from raystream import Scene, ViewerError

NAME = "OFF"


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with OFF."""
    return head.split(maxsplit=1)[:1] == [b"OFF"]


def read(path: Path) -> Scene:
    """The scene of one mesh; polygons become fans. Raises ViewerError for a file that ends early."""
    lines = [line.split("#")[0] for line in path.read_text().splitlines()]
    words = " ".join(lines).split()[1:]
    try:
        vertices, polygons = int(words[0]), int(words[1])
        at = 3 + 3 * vertices
        positions = np.array(words[3:at], np.float64).reshape(vertices, 3)
        faces = []
        for _ in range(polygons):
            corners = [int(word) for word in words[at + 1 : at + 1 + int(words[at])]]
            faces += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
            at += 1 + len(corners)
    except (ValueError, IndexError) as error:
        raise ViewerError(str(path), f"is damaged ({error})") from None
    return Scene.from_triangles(positions, np.array(faces).reshape(-1, 3), name=path.stem)
