"""Every option: what it takes, from text and from Python, and the one line that says what is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.options import values
from raystream.options.picture import QUALITIES
from raystream.options.table import DEFAULT_SAMPLES, MAX_SAMPLES, OPTIONS, check, sample_limit
from raystream.options.values import PhotonFilter, PolicyChoice, Unroll

# Readers of numbers whose range has its ends, whole ones first.
CLOSED = (
    *(values.read_integer, values.read_optional_integer, values.read_integer_or_auto),
    *(values.read_real, values.read_real_or_auto, values.read_optional_real),
)


@dataclass
class Eye:
    """What `check` knows of a camera."""

    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    target: tuple[float, float, float] = (0.0, 0.0, -1.0)


EYE = Eye()
K = (400.0, 0.0, 320.0, 0.0, 410.0, 240.0, 0.0, 0.0, 1.0)
GOOD = [  # an option, what it takes, and the values that mean it
    ("size", (640, 480), "640x480", (640, 480), np.array([640, 480]), [np.int64(640), 480]),
    ("size", (1, 32768), "1X32768"),
    ("size", (640, 640), 640, np.int64(640), "640"),
    ("spp", 16, "16"),
    ("spp", None, None),
    ("machine", "singlepass", "singlepass"),
    ("policy", PolicyChoice("sweep"), "sweep"),
    ("policy", PolicyChoice("most-work"), "most-work"),
    ("policy", PolicyChoice("threshold", 0.2, "active"), "threshold"),
    ("policy", PolicyChoice("threshold", 0.35, "all"), "threshold=0.35,all"),
    ("policy", PolicyChoice("threshold", 1.0, "active"), "threshold=1,active"),
    ("unroll", Unroll(), "auto", None),
    ("unroll", Unroll((4, 2)), "4,2", (4, 2), Unroll((4, 2)), np.array([4, 2])),
    ("unroll", Unroll((8,)), 8),
    ("grid", "auto", "auto", None),
    ("focus", 2.0, 2),
    ("environment", "sky", "sky"),
    ("environment", (0.0, 0.5, 1.0), "0,0.5,1"),
    ("environment", (1.0, 2.0, 3.0), np.array([1, 2, 3])),
    ("environment", "skies/a,b.hdr", "skies/a,b.hdr"),
    ("environment", "a.exr", Path("a.exr")),
    ("roulette", None, "never", None, "None"),
    ("sun", (20.0, -90.0), "20,-90"),
    ("sun", (90.0, 0.0), np.array([90, 0])),
    ("sun", (0.0, -360.0), "0,-360"),
    ("sun", (90.0, 360.0), (90, 360)),
    ("ground", (0.01, 10000.0), "0.01x10000"),
    ("ground", None, None),
    ("ground", "none", False, "none"),
    ("ground", "shadow", "shadow"),
    ("ground", "auto", True, "auto"),
    ("ground", (1.53, 2.55), "1.53x2.55"),
    ("ground", (2.0, 3.5), (2, 3.5)),
    ("animation", 0, 0),
    ("animation", "walk", "walk"),
    ("animation", "0", "0"),
    ("frames", range(1), "0-0"),
    ("frames", range(9999999, 10000000), "9999999", range(9999999, 10000000)),
    ("frames", None, None),
    ("frames", range(7, 8), "7"),
    ("light", (("lamp", (1.0, 2.0, -3.0)),), "lamp=1,2,-3"),
    ("light", (("a", (1.0, 2.0, 3.0)), ("b", (4.0, 5.0, 6.0))), {"a": (1, 2, 3), "b": "4,5,6"}),
    ("light", (("a", (4.0, 5.0, 6.0)), ("b", (1.0, 2.0, 3.0))), ["a=1,2,3", "b=1,2,3", "a=4,5,6"]),
    ("light", (), None),
    ("intrinsics", (K, None), "400,410,320,240", np.array(K).reshape(3, 3), (K, None)),
    ("intrinsics", (K, (640, 480)), "400,410,320,240 640x480", (np.array(K).reshape(3, 3), (640, 480))),
    ("distortion", (-0.3, 0.1, 0.0, 0.001), "-0.3,0.1,0,0.001"),
    ("distortion", (0.0,) * 8, np.zeros(8)),
    ("camera", None, None),
    ("camera", "inside", "inside"),
    ("camera", "-1,2,3 0,0,0 0,0,1", "-1,2,3 0,0,0 0,0,1"),
    ("camera", EYE, EYE),
    ("camera", "0.0,1.0,5.0 0.0,1.0,0.0", ((0, 1, 5), (0, 1, 0))),
    ("camera", "0.0,0.1,5.0 0.0,1.0,0.0 0.0,0.0,1.0", np.array([[0, 0.1, 5], [0, 1, 0], [0, 0, 1]])),
    ("camera", "1.0,2.0,3.0 1.0,1.0,3.0 0.0,0.0,1.0", np.eye(4)[[0, 2, 1, 3]] + np.eye(4)[3] * [[1], [2], [3], [0]]),
    ("fov", 39.3, "39.3"),
    ("fov", 45.0, np.float32(45)),
    ("layers", ("depth", "normal"), "depth,normal", "depth, normal,depth"),
    ("exposure", -1.5, "-1.5"),
    ("stats", "a b/stats.json", Path("a b/stats.json")),
    ("quiet", True, True),
    ("photon_filter", PhotonFilter("constant"), "constant"),
    ("photon_filter", PhotonFilter("cone", 1.1), "cone"),
    ("photon_filter", PhotonFilter("cone", 1e6), "cone=1e6"),
    ("photon_grid", None, "auto", None),
    ("photon_grid", (4, 5, 6), "4X5x6", [4, 5, 6]),
    ("shadows", True, "on", True),
    ("shadows", False, "off", False),
    ("exposure", "auto", "auto"),
]


@pytest.mark.parametrize("good", GOOD, ids=lambda good: repr(good)[:40])
def test_good_value(good):
    name, expected, *values = good
    for value in (*values, expected):  # a checked value stays itself
        result = check(name, value)
        assert result == expected and type(result) is type(expected)


def test_sample_limit():
    assert sample_limit(None, None, None) == DEFAULT_SAMPLES
    assert sample_limit(None, 10.0, None) == sample_limit(None, None, 0.01) == MAX_SAMPLES
    assert sample_limit(7, None, None) == sample_limit(7, 10.0, 0.01) == sample_limit(7, None, None, "best") == 7
    assert sample_limit(None, 10.0, None, "best") == QUALITIES["best"][1]


BAD = [
    *(("projection", v) for v in ("", "flat", 3)),
    *(
        ("intrinsics", v)
        for v in ("", "400,410,320", "400,410,320,240 640", "400,410,nan,240", "1,2,3,4 0x5", "a,b,c,d")
    ),
    *(
        ("intrinsics", v)
        for v in (400.0, np.zeros((2, 2, 2)), ([1, 2, 3, 4], (640,)), ([1, 2, 3, 4], "big"), "1,2,3,4 5x6 7x8")
    ),
    *(("distortion", v) for v in ("", "1,2", "1,2,3,x", "1,2,3,inf", (1, 2, 3), 0.5)),
    *(("photon_filter", v) for v in ("", "con", "cone=", "cone=0.99", "cone=1000001", "constant=2", None, 1.1)),
    *(("photon_filter", v) for v in (PhotonFilter("box"), PhotonFilter("cone", 0.5), "cone=wide")),
    *(("photon_grid", v) for v in ("", "1x2", "1x2x3x4", "0x1x1", "1x1x0", "1x1.5x1", 3, (1, 2), "axbxc")),
    *(("shadows", v) for v in ("", "yes", 1, None)),
    *(("size", v) for v in ("", "640x", "x480", "0x5", "5x0", "-5x5", "32769x1", "1x32769", "640x480x3")),
    *(
        ("size", v)
        for v in ("6_4x5", "1e3x5", "٣x5", "9" * 5000 + "x5", 0, 640.5, True, None, (640,), (640, 480.5), (True, 5))
    ),
    *(("spp", v) for v in ("", "0", "-1", "1.5", "many", "65537", True, 1.5, float("nan"))),
    *(("machine", v) for v in ("", "multi pass", "Multipass", None, 3)),
    *(("policy", v) for v in ("", "best", "threshold=", "threshold=0", "threshold=1.01", "threshold=nan")),
    *(("policy", v) for v in ("threshold=-0.2", "threshold=0.2,", "threshold=0.2,some", "sweep=0.2", "sweep=")),
    *(
        ("policy", v)
        for v in (None, 0.2, PolicyChoice("best"), PolicyChoice("threshold", 2.0), PolicyChoice(of="some"))
    ),
    *(("unroll", v) for v in ("", "0", "4,", "4,0", "-1", "4;2", "65537", "auto,2", 0, (), (1, 0), 1.5, True)),
    *(("focus", v) for v in ("0", "-2", "inf", "far")),
    *(("environment", v) for v in ("", "-1,0,0", (1, 2), (1, 2, 1e31), 3, "a\0b")),
    *(("sun", v) for v in ("", "40", "-0.1,0", "90.1,0", "0,360.1", "0,-360.1", "1,2,3", "up,0", 3, (1, True))),
    *(("light", v) for v in ("", "lamp", "lamp=", "=1,2,3", "lamp=1,2", "lamp=1,2,nan", 3)),
    *(("grid", v) for v in ("", "0", "1025", "1.5", "-4", "automatic", 0, 2.5, True, np.zeros(2))),
    *((name, v) for name in ("lenient", "classic") for v in ("yes", 1, None)),
    *(("ground", v) for v in ("", "2", "2x", "0x1", "1x2x3", "1x20000", "large", 2, (1, True), float("nan"))),
    *(
        ("camera", v)
        for v in (
            "",
            "   ",
            3,
            ((0, 0, 0),),
            ((0, 0, 0), (0, 0)),
            ((0, 0, 0), (0, 0, "nan")),
            np.zeros((4, 4)),
            np.eye(3)[:, :2],
        )
    ),
    *(("fov", v) for v in ("", "0", "180", "-5", "nan", "inf", "wide", "4_0", 0, 180.0, True, "9" * 400)),
    *(("layers", v) for v in ("", "depth,", ",", 3, None, ("depth", 3))),
    *(("stats", v) for v in ("", "a\0b", 3, True)),
    *(("output", v) for v in ("", 3)),
    *(("frames", v) for v in ("", "-", "5-", "-5", "9-3", "0-1-2", "a-b", "0-99999999", 3, (0, 3), range(0))),
    *(("frames", v) for v in (range(-1, 3), range(0, 9, 2), range(9, 3, -1))),
    *(("time", v) for v in ("", "-1", "inf", "soon", 1e9)),
    *((name, v) for name in ("animation", "variant") for v in ("", "  ", -1, 1.5, True)),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda v: repr(v)[:40])
def test_bad_value_is_named_with_what_is_expected(name, value):
    with pytest.raises(ViewerError) as caught:
        check(name, value)
    line, typed = str(caught.value), caught.value.typed
    shown = " ".join(repr(3 if repr(value) == "('depth', 3)" else value).split())
    assert typed.startswith(f"--{name.replace('_', '-')} {shown}"[:40])
    assert line == typed if OPTIONS[name].scope.taker == "command" else line.startswith(f"{name}={shown}"[:38])
    assert "expected " in line
    assert "\n" not in line and len(line) < 250


@pytest.mark.parametrize(
    "option", [each for each in OPTIONS.values() if each.value.read in CLOSED], ids=lambda option: option.name
)
def test_both_ends_of_a_range_belong_to_it(option):
    """And the next number beyond each does not."""
    whole = option.value.read in CLOSED[:3]
    for end, beyond in ((option.value.low, -math.inf), (option.value.high, math.inf)):
        assert check(option.name, str(end)) == check(option.name, end) == end
        outside = end + math.copysign(1, beyond) if whole else math.nextafter(end, beyond)
        with pytest.raises(ViewerError):
            check(option.name, outside)


def test_choices_are_handed_in():
    assert check("program", "cast", choices=("cast", "whitted")) == "cast"
    with pytest.raises(ViewerError, match=r"^program='path': expected cast or whitted"):
        check("program", "path", choices=("cast", "whitted"))
    with pytest.raises(ViewerError, match=r"^layers='dept': expected .*depth, normal.*did you mean 'depth'"):
        check("layers", "normal,dept", choices=("depth", "normal"))


@given(
    st.sampled_from(list(OPTIONS)),
    st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans(), st.tuples(st.integers(), st.text())),
)
def test_any_value_passes_or_is_told_in_one_line(name, value):
    try:
        result = check(name, value)
    except ViewerError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert check(name, result) == result


def test_every_default_text_reads_as_the_default():
    for name, option in OPTIONS.items():
        words = option.default_words()
        if words and option.value.default not in (None, ()):
            assert check(name, words) == option.value.default


NUMPY = [
    *(np.eye(4), np.zeros((0, 3)), np.array(7), np.array("path"), np.array(["path", "cast"]), np.array([True, False])),
    *(
        np.array(None),
        np.array([1, "a", None], object),
        np.array(np.nan),
        np.complex128(1j),
        np.datetime64("2026-01-01"),
    ),
]


def test_values_of_numpy_are_taken_or_refused_in_one_line():
    for name in (name for name, option in OPTIONS.items() if option.scope.taker != "command"):
        for value in NUMPY:
            try:
                check(name, value)
            except ViewerError as error:
                assert "\n" not in str(error)
    for name, value in (("spp", 3), ("ortho", 2.0), ("program", "cast"), ("environment", "sky")):
        assert check(name, np.array(value)) == check(name, value)  # an array of one is its number
