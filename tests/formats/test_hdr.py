"""Radiance pictures against known bytes, and broken ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.formats.image import hdr

HEAD = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"


def flat(pixels: list[tuple[int, int, int, int]], size: bytes) -> bytes:
    return HEAD + size + b"\n" + bytes(sum(pixels, ()))


def encoded(texels: np.ndarray, runs: bool = True) -> bytes:
    """Lines (H, W, 4) in the new coding, by a writer of the test's own: runs of three and more, else stretches."""
    out = bytearray()
    for line in texels:
        out += bytes((2, 2, len(line) >> 8, len(line) & 255))
        for component in line.T:
            at = 0
            while at < len(component):
                same = 1
                while same < 127 and at + same < len(component) and component[at + same] == component[at]:
                    same += 1
                if runs and same >= 3:
                    out += bytes((128 + same, component[at]))
                    at += same
                    continue
                stretch = component[at : at + 128][: same if runs else 128]
                out += bytes((len(stretch), *stretch))
                at += len(stretch)
    return bytes(out)


def header(texels: np.ndarray) -> bytes:
    return HEAD + b"-Y %d +X %d\n" % texels.shape[:2]


def values(texels: np.ndarray) -> np.ndarray:
    """In float64, by the format's definition."""
    mantissa, exponent = texels[..., :3].astype(np.float64), texels[..., 3:].astype(np.float64)
    return np.where(exponent > 0, mantissa * 2.0 ** (exponent - 136), 0)


def test_pixels_by_hand() -> None:
    data = flat([(128, 64, 0, 129), (255, 1, 2, 136), (9, 9, 9, 0), (128, 128, 128, 128)], b"-Y 2 +X 2")
    expected = [[[1, 0.5, 0], [255, 1, 2]], [[0, 0, 0], [0.5, 0.5, 0.5]]]
    np.testing.assert_array_equal(hdr.read(data, "a"), expected)
    assert hdr.size(data, "a") == (2, 2)


def test_exposures_multiply_and_are_taken_back() -> None:
    head = b"#?RGBE\n# made here\nEXPOSURE=2\nSOFTWARE=none\nEXPOSURE= 4\n\n"
    np.testing.assert_array_equal(hdr.read(head + b"-Y 1 +X 1\n\x80\x80\x80\x82", "a"), [[[0.25, 0.25, 0.25]]])


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize("width", [8, 9, 127, 128, 129, 300, 1000])
def test_the_new_coding(width, runs) -> None:
    rng = np.random.default_rng(width)
    texels = rng.integers(0, 256, (5, width, 4)).astype(np.uint8)
    texels[1:3, width // 3 :, :2] = 7
    texels[4] = 0
    found = hdr.read(header(texels) + encoded(texels, runs), "a")
    np.testing.assert_array_equal(found, values(texels).astype(np.float32))


def test_the_old_coding_repeats_pixels() -> None:
    # One pixel and three more of it; then one, and 0x0102 = 258 more by two marks.
    data = HEAD + b"-Y 2 +X 263\n"
    line = bytes((10, 20, 30, 130)) + bytes((1, 1, 1, 3)) + bytes((40, 50, 60, 131)) + bytes((1, 1, 1, 2, 1, 1, 1, 1))
    found = hdr.read(data + line * 2, "a")
    texels = np.array([[10, 20, 30, 130]] * 4 + [[40, 50, 60, 131]] * 259, np.uint8)
    np.testing.assert_array_equal(found, np.tile(values(texels).astype(np.float32), (2, 1, 1)))


@pytest.mark.parametrize(("width", "length"), [(1, 1), (7, 7), (8, 9)])
def test_lines_that_look_coded_are_flat(width, length) -> None:
    """Of narrow pictures, and those that name another length."""
    texels = np.full((2, width, 4), 2, np.uint8)
    texels[..., 2:] = (0, length)
    np.testing.assert_array_equal(hdr.read(header(texels) + texels.tobytes(), "a"), values(texels).astype(np.float32))


@pytest.mark.parametrize(
    ("size", "turn"),
    [
        (b"-Y 2 +X 3", lambda a: a),
        (b"+Y 2 +X 3", lambda a: a[::-1]),
        (b"-Y 2 -X 3", lambda a: a[:, ::-1]),
        (b"+Y 2 -X 3", lambda a: a[::-1, ::-1]),
        (b"+X 2 -Y 3", lambda a: a.transpose(1, 0, 2)),
        (b"-X 2 -Y 3", lambda a: a[::-1].transpose(1, 0, 2)),
        (b"+X 2 +Y 3", lambda a: a[:, ::-1].transpose(1, 0, 2)),
        (b"-X 2 +Y 3", lambda a: a[::-1, ::-1].transpose(1, 0, 2)),
    ],
)
def test_all_eight_directions_of_lines(size, turn) -> None:
    texels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) + 100
    data = HEAD + size + b"\n" + texels.tobytes()
    found = hdr.read(data, "a")
    np.testing.assert_array_equal(found, turn(values(texels)).astype(np.float32))
    assert hdr.size(data, "a") == found.shape[1::-1]


BROKEN = {
    "another file": (b"P6 1 1", "does not begin with '#\\?RADIANCE'"),
    "no end of the header": (b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n", "the header does not end"),
    "no size": (HEAD + b"pixels\n", "no size in the header"),
    "one axis twice": (HEAD + b"-Y 2 +Y 2\n" + bytes(16), "no size in the header"),
    "no pixels": (HEAD + b"-Y 0 +X 2\n", "picture of 2 x 0 pixels"),
    "another colour space": (b"#?RADIANCE\nFORMAT=32-bit_rle_luv\n\n-Y 1 +X 1\n\0\0\0\0", "32-bit_rle_luv"),
    "an exposure of zero": (b"#?RADIANCE\nEXPOSURE=0\n\n-Y 1 +X 1\n\0\0\0\0", "EXPOSURE"),
    "truncated": (HEAD + b"-Y 4 +X 4\n" + bytes([9] * 40), "line 3 of 4 ends at byte"),
    "far too short": (HEAD + b"-Y 100000 +X 9\n" + bytes(40), "100,000 lines in 40 bytes"),
    "a run beyond the line": (HEAD + b"-Y 1 +X 8\n" + bytes((2, 2, 0, 8, 137, 5)), "a run longer than the line"),
    "an empty stretch": (HEAD + b"-Y 1 +X 8\n" + bytes((2, 2, 0, 8, 0, 5)), "a run longer than the line"),
    "nothing to repeat": (HEAD + b"-Y 1 +X 4\n" + bytes((1, 1, 1, 3)), "begins with a repeated pixel"),
    "an old run beyond the line": (
        HEAD + b"-Y 1 +X 4\n" + bytes((9, 9, 9, 9, 1, 1, 1, 200)),
        "a run longer than the line",
    ),
    "marks without end": (
        HEAD + b"-Y 1 +X 4\n" + bytes((9, 9, 9, 9)) + bytes((1, 1, 1, 0)) * 9,
        "a run longer than the line",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(name) -> None:
    data, words = BROKEN[name]
    with pytest.raises(ViewerError, match=words):
        hdr.read(data, "broken.hdr")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.integers(1, 12), st.integers(1, 12))
def test_any_bytes_are_a_picture_or_one_error(body, width, height) -> None:
    try:
        found = hdr.read(HEAD + b"-Y %d +X %d\n" % (height, width) + body, "a")
    except ViewerError as error:
        assert "\n" not in str(error)
    else:
        assert found.shape == (height, width, 3) and np.isfinite(found).all()
