"""A picture's buffers on the device: blocks, rectangles of them, the film and its error, and the numbers of pixels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import raystream
from raystream.film import device_film as buffers
from raystream.film.device_film import Buffer, FilmBuffer, Pixels
from raystream.film.error import EDGE
from raystream.film.film import Film
from raystream.kernels.records import FEATURES, PIXEL
from raystream.renderer.device.tile_job import copies
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.sampler import FramePlan, Tiling
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Copy

SIZE = (53, 37)  # nothing divides it
# What a sum of EDGE x EDGE floats and the few operations of each may round.
ROUNDING = (EDGE * EDGE + 16) * 2.0**-24


class Narrow(Device):
    """A device whose textures end at 20 x 20."""

    @property
    def max_texture(self) -> int:
        """See `Device`."""
        return 20


@pytest.fixture(params=["one", "rows", "columns", "pixels"])
def blocks(request, device, monkeypatch) -> Device:
    """A device on which a picture lies in blocks of several shapes."""
    if request.param == "rows":
        monkeypatch.setattr(buffers, "MAX_BLOCK_PIXELS", 10 * SIZE[0] + 3)
    elif request.param == "columns":
        return Narrow(device.context)
    elif request.param == "pixels":
        monkeypatch.setattr(buffers, "MAX_BLOCK_PIXELS", 60)
        return Narrow(device.context)
    return device


def random(record, size: tuple[int, int] = SIZE, seed: int = 0) -> NDArray:
    """(H, W) of random records."""
    array = np.zeros(size[::-1], record.dtype)
    for number, field in enumerate(record.fields):
        array[field.name] = np.random.default_rng((seed, number)).integers(-999, 999, array[field.name].shape)
    return array


def noisy(size: tuple[int, int] = SIZE, samples: int = 5, seed: int = 0, scale: float = 1.0) -> Film:
    """A film of random samples of every brightness."""
    film, numbers = Film(*size), np.random.default_rng(seed)
    for _ in range(samples):
        film.add(scale * numbers.random((*size[::-1], 3), np.float32) ** 4)
    return film


# -- blocks ------------------------------------------------------------------------------------------------------------


def test_blocks_cover_every_pixel_once(blocks):
    buffer = Buffer(blocks, PIXEL, SIZE)
    hit = np.zeros(SIZE[::-1], int)
    for block in buffer.blocks:
        wide, tall = block.stream.size
        assert wide <= blocks.max_texture and tall <= blocks.max_texture
        assert wide * tall <= buffers.MAX_BLOCK_PIXELS
        hit[block.y : block.y + tall, block.x : block.x + wide] += 1
    assert (hit == 1).all()
    assert buffer.bytes == 16 * SIZE[0] * SIZE[1]
    buffer.release()


def test_what_is_written_is_read(blocks):
    buffer, given = Buffer(blocks, FEATURES, SIZE), random(FEATURES)
    np.testing.assert_array_equal(buffer.read(), np.zeros(SIZE[::-1], FEATURES.dtype))
    buffer.write(given)
    np.testing.assert_array_equal(buffer.read(), given)
    buffer.clear()
    np.testing.assert_array_equal(buffer.read(), np.zeros(SIZE[::-1], FEATURES.dtype))
    buffer.release()


@pytest.mark.parametrize(
    "rectangle",
    [(0, 37, 0, 53), (0, 1, 0, 1), (36, 37, 52, 53), (8, 21, 17, 43), (10, 20, 20, 40), (19, 21, 0, 53), (0, 37, 7, 9)],
    ids=str,
)
def test_rectangles_are_loaded_and_stored_whatever_blocks_they_touch(blocks, rectangle):
    top, bottom, left, right = rectangle
    place = slice(top, bottom), slice(left, right)
    wide, tall = right - left, bottom - top
    buffer, given, resources = Buffer(blocks, FEATURES, SIZE), random(FEATURES), Resources(blocks)
    buffer.write(given)
    rows = Stream(blocks, FEATURES, (64, 32))
    rows.clear()
    for step in copies(buffer, rows, place):
        assert isinstance(step, Copy) and not step.back
        resources.copies.to_rows(step.rectangle, step.rows, step.corner, step.size)
    loaded = rows.read().reshape(-1)
    np.testing.assert_array_equal(loaded[: wide * tall], given[place].reshape(-1))
    np.testing.assert_array_equal(loaded[wide * tall :], np.zeros(64 * 32 - wide * tall, FEATURES.dtype))
    changed = random(FEATURES, (64, 32), seed=1)
    rows.write(changed)
    for step in copies(buffer, rows, place, back=True):
        assert isinstance(step, Copy) and step.back
        resources.copies.from_rows(step.rows, step.rectangle, step.corner, step.size)
    given[place] = changed.reshape(-1)[: wide * tall].reshape(tall, wide)
    np.testing.assert_array_equal(buffer.read(), given)
    buffer.release()


def test_only_blocks_that_a_rectangle_touches_are_copied(device):
    buffer = Buffer(Narrow(device.context), PIXEL, SIZE)
    corners = {
        (block.x, block.y): corner for block, corner, _ in buffer.overlapping_blocks((slice(5, 20), slice(19, 40)))
    }
    assert corners == {(0, 0): (19, 5), (20, 0): (-1, 5)}  # up to the edges, not beyond
    buffer.release()


# -- the film ----------------------------------------------------------------------------------------------------------


def test_a_film_goes_there_and_back_bit_by_bit(blocks):
    film = noisy()
    film.count[3, 4] = 2  # the least
    buffer = FilmBuffer(blocks, SIZE, film)
    assert buffer.samples == 2
    back = buffer.film()
    for name, array in film.arrays.items():
        assert back.arrays[name].tobytes() == array.tobytes(), name
    assert FilmBuffer(blocks, SIZE).samples == 0
    assert not FilmBuffer(blocks, SIZE).film().count.any()


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
@pytest.mark.parametrize("size", [SIZE, (1, 1), (16, 16), (17, 3), (200, 130)])
def test_the_error_is_the_film_s(blocks, size, scale):
    film = noisy(size, samples=7, scale=scale)
    buffer = FilmBuffer(blocks, size, film)
    assert buffer.error() == pytest.approx(film.error(), rel=ROUNDING, abs=0)
    film.square[...] *= np.random.default_rng(3).random(film.square.shape, np.float32)
    film.add(np.ones((*size[::-1], 3)))
    buffer.write(film.records())
    assert buffer.error() == pytest.approx(film.error(), rel=ROUNDING, abs=0)
    buffer.release()


@pytest.mark.parametrize("pixel", [(0, 0), (36, 52), (20, 19), (11, 31)])
@pytest.mark.parametrize("samples", [0, 1])
def test_the_error_is_infinite_while_a_pixel_has_fewer_than_two_samples(blocks, pixel, samples):
    film = noisy()
    film.count[pixel], film.square[pixel] = samples, 0
    buffer = FilmBuffer(blocks, SIZE, film)
    assert buffer.error() == film.error() == float("inf")
    film.count[pixel] = 2
    buffer.write(film.records())
    assert np.isfinite(buffer.error()) and buffer.error() == pytest.approx(film.error(), rel=ROUNDING)
    buffer.release()


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_a_picture_in_blocks_has_the_bits_of_one_without(device, monkeypatch, machine):
    """Filled rectangle by rectangle, which lie across blocks."""
    renderer = Renderer(raystream.load("cornell"), program="path", depth=2, machine=machine, device=device)
    size = (24, 18)
    found = []
    for largest, tile in ((1 << 24, None), (5 * 24, None), (5 * 24, (7, 8)), (1 << 24, (7, 8))):
        monkeypatch.setattr(buffers, "MAX_BLOCK_PIXELS", largest)
        film = FilmBuffer(device, size)
        assert len(film.blocks) == (1 if largest > 1000 else 4)
        for samples in (2, 3):
            for _ in renderer.sampler.render_tiles(
                FramePlan(renderer.settings, renderer.camera, size, samples=samples, tiling=tile and Tiling(tile)), film
            ):
                pass
            assert film.samples == samples
        found.append(film.read())
        assert (found[-1]["count"] == 3).all() and found[-1]["sum"].any()
    renderer.release()
    for other in found[1:]:
        assert other.tobytes() == found[0].tobytes()


# -- pixels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(8, 8), (5, 13), (64, 1)])
@pytest.mark.parametrize("rectangle", [(0, 8, 0, 8), (3, 9, 100, 109), (4000, 4001, 7, 71), (2, 60, 5, 6)], ids=str)
def test_pixels_of_a_rectangle_in_row_order(device, size, rectangle):
    top, bottom, left, right = rectangle
    stream = Stream(device, PIXEL, size)
    Pixels(device).fill(stream, (slice(top, bottom), slice(left, right)))
    y, x = np.mgrid[top:bottom, left:right]
    expected = np.stack([x.ravel(), y.ravel()], axis=-1)
    count = min(len(expected), size[0] * size[1])
    np.testing.assert_array_equal(stream.read()["at"].reshape(-1, 2)[:count], expected[:count])
    stream.release()


def test_one_pass_fills_streams_of_several_sizes(device):
    pixels, compiled = Pixels(device), device.compiled
    for size in ((9, 4), (3, 3), (9, 4)):
        stream = Stream(device, PIXEL, size)
        pixels.fill(stream, (slice(0, size[1]), slice(0, size[0])))
        y, x = np.mgrid[: size[1], : size[0]]
        np.testing.assert_array_equal(stream.read()["at"], np.stack([x, y], axis=-1))
    assert device.compiled == compiled
