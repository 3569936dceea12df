"""Parts of the benchmarks: what they time, compare and draw by, checked on its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from benchmarks import common
from benchmarks.noise import denoise, eight
from benchmarks.processes import launch
from benchmarks.rays import deform
from benchmarks.scenes import SPAN, facing
from benchmarks.viewing import ladder, opening_process, readable

import raystream

pytestmark = pytest.mark.usefixtures("own_cache")


def test_time_within_an_inner_part_is_that_one_s(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(20))
    monkeypatch.setattr(deform.time, "process_time", lambda: float(next(seconds)))
    clock = deform.Clock(MagicMock())
    pose = clock.around("pose", lambda: None)
    assert list(clock.around("light", lambda: (pose() for _ in range(2)))()) == [None, None]
    # Made in one second, a step in one before its pose and one behind, and the end in one.
    assert (clock.seconds["light"], clock.seconds["pose"], sum(clock.seconds.values())) == (6.0, 2.0, 12.0)


def test_the_parts_of_a_picture_are_where_it_is_computed() -> None:
    assert all(callable(getattr(owner, name)) for calls in deform.PARTS.values() for owner, name in calls)


def test_moves_are_told_by_their_places() -> None:
    most = opening_process.COLUMNS * opening_process.ROWS
    for sent in (0, 1, 255, 256, most - 1, most, 3 * most + 517):
        assert opening_process.number(*opening_process.place(sent), max(0, sent - 40)) == sent


def test_a_benchmarks_flight_ends_at_the_scenes_camera() -> None:
    home = raystream.load("cornell").cameras[0]
    for indoors in (False, True):
        away, end = (ladder.aside(home, indoors, 100.0, share) for share in (0.0, 1.0))
        np.testing.assert_allclose([end.origin, end.target], [home.origin, home.target], atol=1e-9)
        far = np.linalg.norm(np.subtract(away.target, away.origin))
        assert far == pytest.approx(np.linalg.norm(np.subtract(home.target, home.origin)))
        turned = np.dot(np.subtract(away.target, away.origin), np.subtract(home.target, home.origin)) / far**2
        assert np.degrees(np.arccos(turned)) == pytest.approx(ladder.TURNED, abs=1.0)


def test_the_benchmarks_pictures_are_the_renderers(device: Any) -> None:
    """By every denoiser, though samples are traced once."""
    renderer = raystream.Renderer("cornell", device=device, machine="singlepass", denoise="shader")
    made = denoise.pictures_of(renderer, (24, 16), 2)
    for name in set(made) - {"bilateral"}:
        renderer.update(denoise=name)
        np.testing.assert_array_equal(renderer.render((24, 16), 2).linear, made[name])


def test_the_bilateral_filter_by_hand() -> None:
    """Of two pixels in a row, within reach: each takes the other by both Gaussians; far colours stay apart."""
    picture = np.array([[[0.5, 0.5, 0.5], [0.52, 0.5, 0.5]]])
    made = denoise.bilateral(picture, sigma=1.0, threshold=0.03)
    near, tone = np.exp(-1 / 2), np.exp(-(0.02**2) / (2 * 0.03**2))
    # The edge repeats: left of, above and below the first pixel it stands itself.
    expected = (0.5 * (1 + 3 * near) + 0.52 * near * tone) / (1 + 3 * near + near * tone)
    np.testing.assert_allclose(made[0, 0], [expected, 0.5, 0.5], rtol=1e-6)  # float32
    picture[0, 1] = 5.0
    np.testing.assert_allclose(denoise.bilateral(picture), picture, rtol=1e-6)


def test_pictures_are_enlarged_as_the_window_does() -> None:
    ramp = np.broadcast_to((np.arange(4) + 0.5)[None, :, None], (3, 4, 3))
    made = readable.enlarged(ramp, (8, 6))
    assert made.shape == (6, 8, 3)
    np.testing.assert_allclose(made[2, :, 0], np.clip((np.arange(8) + 0.5) / 2, 0.5, 3.5))
    assert readable.enlarged(ramp, (4, 3)).tobytes() == ramp.astype(np.float32).tobytes()


def test_the_distance_from_a_converged_picture() -> None:
    pytest.importorskip("flip_evaluator", reason="flip-evaluator is not installed")
    linear = np.full((16, 16, 3), 0.25, np.float32)
    truth = eight.Converged(linear, 1, 0.0)
    assert truth.flip(linear) == 0 and truth.relative(linear) == 0
    other = linear.copy()
    other[:8] *= 1.5
    assert truth.relative(other) == pytest.approx(0.5 / np.sqrt(2)) and truth.flip(other) > 0.02
    assert truth.flip(truth.linear * 4) > truth.flip(other)  # exposed as the converged one
    other[12, 3] = 0
    assert truth.blemishes(other).holes == truth.blemishes(other).specks == 1 / 256


def test_a_rise_is_over_the_best_before() -> None:
    """By FLIP: specks are compared with those of the best picture, not with those of the smoothest."""
    flips, specks = (0.5, 0.25, 0.375, 0.125, 0.25, 0.0625), (0.0, 0.5, 0.625, 0.75, 0.25, 1.0)
    found = ladder.rises([(*pair, 0.5) for pair in zip(flips, specks, strict=True)])
    assert found[:, 0].tolist() == [0, 0, 0.125, 0, 0.125, 0]
    assert found[:, 1].tolist() == [0, 0.5, 0.125, 0.25, 0, 0.25] and not found[:, 2].any()
    assert ladder.rises([(0.5, 0.25, 0.125)]).tolist() == [[0, 0, 0]]


def test_cases_are_timed_in_turn() -> None:
    order: list[str] = []
    timings = common.interleave({"a": lambda: order.append("a"), "b": lambda: order.append("b") or 2.0}, 3, warm_up=1)
    assert order == ["a", "b"] * 4
    assert len(timings["a"].wall) == 3 and min(timings["b"].cpu) >= 2.0
    assert common.Timing([2, 9, 4], [1, 1, 1]).ratio(common.Timing([1, 3, 4], [1, 1, 1])) == 2


def test_peak_memory_is_the_child_s_own() -> None:
    ballast = np.ones(40 << 20, np.uint8)  # this process is larger than the first child
    helper = [sys.executable, "-I", "-S", launch.__file__, "run"]
    script = "import sys; held = bytearray(int(sys.argv[1]) << 20)\nfor k in range(0, len(held), 4096): held[k] = 1"
    peaks = [common_json([*helper, sys.executable, "-I", "-S", "-c", script, str(size)]) for size in (1, 65)]
    assert 60 << 20 < peaks[1]["peak_bytes"] - peaks[0]["peak_bytes"] < 70 << 20
    assert peaks[0]["peak_bytes"] < len(ballast)
    assert common_json([*helper, sys.executable, "-c", "raise SystemExit(3)"])["status"] == 3


def common_json(command: list[str]) -> dict:
    """What the command prints, as data."""
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def test_facing_camera_spans_its_share_of_the_picture() -> None:
    scene = raystream.load("teapotahedron")
    camera = facing(scene)
    right, up, forward = camera.basis()
    points = scene.flatten().positions - np.asarray(camera.origin)
    depth = points @ forward
    assert (depth > 0).all()
    slope = np.tan(np.radians(camera.fov) / 2)
    spans = [np.ptp(points @ axis / depth) / slope / 2 for axis in (right, up)]
    assert max(spans) == pytest.approx(SPAN, rel=1e-6)  # 60 bisections in float64


def test_files_are_named_by_the_machine() -> None:
    found = {"renderer": "llvmpipe (LLVM 15.0.6, 256 bits)", "cpu": "AMD EPYC", "cpus": 2}
    assert common.machine_name(found) == "llvmpipe-amd-epyc-2-cpus"
    assert common.machine_name({**found, "renderer": "NVIDIA H200/PCIe/SSE2"}) == "nvidia-h200"
