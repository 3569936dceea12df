"""The picture on show, on the device: pictures and previews in their turns, whole and in tiles."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.denoise.upsampling import SHOWN
from raystream.kernels.records import FILM, RADIANCE
from raystream.stream.gl.stream import Stream
from raystream.viewport.picture_texture import PictureTexture

SIZE = (5, 3)


def film(device: Any, value: float, samples: float = 2.0, size: tuple[int, int] = SIZE) -> tuple[Stream, np.ndarray]:
    """Sums of samples, and their means (H, W, 3)."""
    stream = Stream(device, FILM, size)
    elements = np.zeros((size[1], size[0]), FILM.dtype)
    means = value + np.arange(size[0] * size[1] * 3, dtype=np.float32).reshape(size[1], size[0], 3)
    elements["sum"], elements["count"] = means * samples, samples
    stream.write(elements)
    return stream, means


@pytest.fixture
def canvas(device: Any) -> PictureTexture:
    return PictureTexture(device)


def test_films_are_shown_as_their_means(device: Any, canvas: PictureTexture) -> None:
    assert canvas.blank and canvas.changes == 0
    canvas.begin(SIZE, False)
    assert not canvas.blank and canvas.changes == 1
    kept = [film(device, value, samples) for value, samples in ((1.0, 2.0), (50.0, 4.0))]
    for number, (stream, means) in enumerate(kept, 2):
        canvas.show(stream)
        np.testing.assert_array_equal(canvas.linear(), means)
        assert canvas.changes == number
    canvas.end()
    assert canvas.changes == 3 and canvas.linear().dtype == np.float32


def test_a_preview_is_shown_when_it_is_complete(device: Any, canvas: PictureTexture) -> None:
    (first, means), (second, others) = film(device, 1.0), film(device, 9.0, size=(4, 2))
    canvas.begin(SIZE, False)
    canvas.show(first)
    changes = canvas.changes
    canvas.begin((4, 2), True)
    canvas.show(second)
    np.testing.assert_array_equal(canvas.linear(), means)
    assert canvas.changes == changes
    canvas.end()
    np.testing.assert_array_equal(canvas.linear(), others)
    assert canvas.changes == changes + 1
    canvas.end()
    assert canvas.changes == changes + 1
    canvas.begin(SIZE, True)
    canvas.show(first)
    canvas.drop()
    canvas.end()
    np.testing.assert_array_equal(canvas.linear(), others)
    assert canvas.changes == changes + 1, "it was dropped"


def test_the_full_picture_begins_from_the_last_one(device: Any, canvas: PictureTexture) -> None:
    stream, means = film(device, 1.0, size=(2, 1))
    canvas.begin((2, 1), False)
    canvas.show(stream)
    canvas.begin((8, 4), False)
    found = canvas.linear()
    assert found.shape == (4, 8, 3)
    np.testing.assert_allclose(found[:, 0], np.broadcast_to(means[0, 0], (4, 3)), rtol=0.2)
    np.testing.assert_allclose(found[:, -1], np.broadcast_to(means[0, 1], (4, 3)), rtol=0.2)
    assert found.min() >= means.min() - 1e-5 and found.max() <= means.max() + 1e-5
    canvas.begin(SIZE, False)
    assert canvas.linear().shape == (3, 5, 3)


def test_tiles_are_put_in_their_places(device: Any, canvas: PictureTexture) -> None:
    """Of films their means, of others their radiance; the rest of the picture stays."""
    whole, means = film(device, 1.0)
    canvas.begin(SIZE, False)
    canvas.show(whole)
    part, values = film(device, 100.0, 4.0, (3, 2))
    changes = canvas.changes
    machine: Any = SimpleNamespace(streams={"film": part}, linked=linked("film"))
    canvas.put(SimpleNamespace(rows=slice(1, 3), columns=slice(2, 5), machine=machine))  # type: ignore[arg-type]
    expected = means.copy()
    expected[1:3, 2:5] = values
    np.testing.assert_array_equal(canvas.linear(), expected)
    assert canvas.changes == changes + 1
    light = Stream(device, RADIANCE, (1, 2))
    elements = np.zeros((2, 1), RADIANCE.dtype)
    elements["rgb"] = [[(7, 8, 9)], [(4, 5, 6)]]
    light.write(elements)
    machine = SimpleNamespace(streams={"radiance": light}, linked=linked("radiance"))
    canvas.put(SimpleNamespace(rows=slice(0, 2), columns=slice(1, 2), machine=machine))  # type: ignore[arg-type]
    expected[:2, 1] = [(7, 8, 9), (4, 5, 6)]
    np.testing.assert_array_equal(canvas.linear(), expected)


def linked(result: str) -> Any:
    return SimpleNamespace(program=SimpleNamespace(results=(result,)))


def test_a_picture_that_is_drawn_whole(device: Any, canvas: PictureTexture) -> None:
    drawn: list[tuple[int, int]] = []
    canvas.begin(SIZE, True)
    changes = canvas.changes
    canvas.warp((4, 4), lambda stream: drawn.append(stream.size))
    assert drawn == [(4, 4)] and canvas.texture.size == (4, 4) and canvas.changes == changes + 1
    texture = canvas.texture
    canvas.warp((4, 4), lambda stream: drawn.append(stream.record == SHOWN))
    assert drawn[-1] is True and canvas.texture is texture
    stream, means = film(device, 3.0)
    canvas.show(stream)
    canvas.end()
    np.testing.assert_array_equal(canvas.linear(), means)  # what was coming all the while
