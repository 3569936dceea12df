"""How a picture is cut: into rectangles that fit a stream, or tiles of a frame's budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator


def rectangles(size: tuple[int, int], side: int, most: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles (rows, columns), near-equal, that fit a stream, top to bottom and left to right: none wider or higher
    than ``side``, none with more than ``most`` pixels."""
    width, height = size
    widest = min(side, most)
    across = -(-width // widest)
    wide = -(-width // across)
    tallest = min(most // wide, widest)
    down = -(-height // tallest)
    tall = -(-height // down)
    for top in range(0, height, tall):
        for left in range(0, width, wide):
            yield slice(top, min(top + tall, height)), slice(left, min(left + wide, width))


def inside(region: tuple[slice, slice], rectangle: tuple[slice, slice]) -> tuple[slice, slice]:
    """A rectangle (rows, columns) of a region of the picture as one of the picture."""
    down, right = (part.start for part in region)
    rows, columns = rectangle
    return slice(rows.start + down, rows.stop + down), slice(columns.start + right, columns.stop + right)


def tiles(
    size: tuple[int, int], tile: tuple[int, int], rows: Callable[[], int] | None = None
) -> Iterator[tuple[slice, slice]]:
    """Rectangles (rows, columns) of ``tile`` (width, height), smaller at the right and the bottom, column by column.

    The next rectangle of a column costs about as much as the last, so that ``rows`` can choose its height by that.
    """
    for left in range(0, size[0], tile[0]):
        top, wide = 0, min(tile[0], size[0] - left)
        while top < size[1]:
            tall = tile[1] if rows is None else min(max(1, rows()), tile[1]) * tile[0] // wide
            yield slice(top, min(top + tall, size[1])), slice(left, left + wide)
            top += tall
