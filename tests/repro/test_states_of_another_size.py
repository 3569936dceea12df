"""A state of another size or other settings was decoded before it was refused, and a damaged length was a 'bug'."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.film.files import checkpoint
from raystream.film.film import Film

SETTINGS = {"program": "path", "depth": 5}


@pytest.fixture
def state(tmp_path):
    film = Film(6, 4)
    film.add(np.full((4, 6, 3), 0.5))
    checkpoint.save(tmp_path / "a.exr", film, SETTINGS)
    return tmp_path / "a.exr"


def test_no_pixel_is_read_before(state) -> None:
    """Of a file with damaged pixels the size and the settings are told first."""
    whole = state.read_bytes()
    state.write_bytes(whole[:-40] + bytes(40))
    for size, settings, words in (
        ((7, 4), SETTINGS, "is 6 x 4 pixels, not 7 x 4"),
        ((6, 4), SETTINGS | {"depth": 6}, "was rendered with depth '5', not '6'"),
        ((6, 4), SETTINGS, "is damaged|is a damaged"),
    ):
        with pytest.raises(ViewerError, match=words):
            checkpoint.resume(state, size, settings)
    state.write_bytes(whole)
    assert (checkpoint.resume(state, (6, 4), SETTINGS).count == 1).all()


def test_headers_that_promise_more_than_there_is(state) -> None:
    data = state.read_bytes()
    small, huge = struct.pack("<4i", 0, 0, 5, 3), struct.pack("<4i", 0, 0, 99999, 99999)
    state.write_bytes(data.replace(small, huge))
    with pytest.raises(ViewerError, match=r"cut short.*\(start a new render\)"):
        checkpoint.resume(state, (100000, 100000), SETTINGS)


@pytest.mark.parametrize("length", [-1, -(1 << 31), 1 << 20, (1 << 31) - 1])
def test_damaged_lengths_of_attributes(state, length) -> None:
    data = state.read_bytes()
    at = data.index(b"film.check\0string\0") + len(b"film.check\0string\0")
    state.write_bytes(data[:at] + struct.pack("<i", length) + data[at + 4 :])
    with pytest.raises(ViewerError, match=r"attribute 'film.check' has a length of .*\(start a new render\)"):
        checkpoint.resume(state, (6, 4), SETTINGS)
