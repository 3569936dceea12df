"""The benchmark of convergence: its error, its crossings, its tables, and the process of a peer, without any peer."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from benchmarks.errors import LUMINANCE, Reference, block_means, crossing, middle
from benchmarks.noise import converge
from benchmarks.noise.peers import Job, Missing, Process, Shot, by_material, write_arrays

import raystream


def _grey(values: np.ndarray) -> np.ndarray:
    return np.repeat(values[..., None], 3, axis=-1).astype(np.float32)


# -- the error -----------------------------------------------------------------------------------------------------


def test_blocks_are_means_of_squares() -> None:
    values = np.arange(32.0).reshape(4, 8)
    assert np.array_equal(block_means(values, 2), [[4.5, 6.5, 8.5, 10.5], [20.5, 22.5, 24.5, 26.5]])
    assert np.array_equal(block_means(values, 1), values)


def test_an_error_is_relative_to_each_block_and_the_darkest_to_a_tenth_of_the_mean() -> None:
    mean = np.ones((16, 16))
    mean[:8] = 3.0
    mean[:8, :8] = 0.0  # black: divided by a tenth of 1.25
    reference = Reference(mean, np.zeros_like(mean))
    assert reference.error(_grey(1.02 * mean), 8) == pytest.approx(0.02 * math.sqrt(3 / 4), rel=1e-4)
    black = mean.copy()
    black[:8, :8] = 0.0125
    assert reference.error(_grey(black), 8) == pytest.approx(0.1 * math.sqrt(1 / 4), rel=1e-4)
    assert reference.mean_error(_grey(1.02 * mean)) == pytest.approx(0.02, rel=1e-4)
    assert LUMINANCE.sum() == pytest.approx(1)


def test_the_reference_s_own_noise_is_taken_off() -> None:
    rng = np.random.default_rng(3)
    truth, own, other = np.full((128, 128), 0.5), 0.02, 0.05
    noisy = truth + own * rng.standard_normal(truth.shape)
    reference = Reference(noisy, np.full_like(truth, own))
    picture = _grey(truth + other * rng.standard_normal(truth.shape))
    for edge in (1, 8):
        assert reference.floor(edge) == pytest.approx(own / 0.5 / edge, rel=0.01)
        # 256 blocks: their mean square is known to 9 %, and the root to half of it; four times that.
        assert reference.error(picture, edge) == pytest.approx(other / 0.5 / edge, rel=0.18)
    assert 0 < reference.error(_grey(truth), 1) < 0.01  # nothing but the reference's noise


def test_a_reference_is_read_from_its_file(tmp_path: Path) -> None:
    mean, stderr = np.ones((8, 16, 3), np.float32) * (1, 2, 3), np.full((8, 16, 3), 0.1, np.float32)
    np.savez(tmp_path / "some.npz", mean=mean, stderr=stderr)
    found = Reference.load(tmp_path / "some.npz")
    assert found.size == (16, 8) and found.mean[0, 0] == pytest.approx(0.2126 + 2 * 0.7152 + 3 * 0.0722)
    assert found.stderr[0, 0] == pytest.approx(0.1)


# -- crossings -----------------------------------------------------------------------------------------------------


def test_crossings_lie_on_the_power_law() -> None:
    counts = [1, 2, 4, 8, 16, 32, 64]
    errors = [0.4 / math.sqrt(n) for n in counts]
    for limit in (0.3, 0.1, 0.06, 0.4 / math.sqrt(8)):
        assert crossing(counts, errors, limit) == pytest.approx((0.4 / limit) ** 2)
    seconds = [0.05 + 0.01 * n for n in counts]
    assert seconds[3] < crossing(seconds, errors, 0.12) < seconds[4]


def test_crossings_at_the_ends_and_of_errors_that_rise_again() -> None:
    assert crossing([1, 2], [0.04, 0.03], 0.05) == 1  # at once
    assert crossing([1, 2], [0.5, 0.3], 0.05) is None
    assert crossing([], [], 0.05) is None
    assert 4 < crossing([1, 2, 4, 8], [0.2, 0.04, 0.06, 0.03], 0.05) < 8  # from which on it stays within


def test_the_median_takes_what_was_not_reached_for_the_largest() -> None:
    assert middle([3.0, 1.0, 2.0]) == 2 and middle([1.0, 3.0]) == 2
    assert middle([None, 1.0, 2.0]) == 2 and middle([None, None, 1.0]) is None and middle([1.0, None]) is None


# -- climbs and tables ---------------------------------------------------------------------------------------------


class _Pretend:
    """A process whose pictures have noise of one over the root of the samples, and perhaps a bias."""

    version, start, phases = "1.0", 0.5, {"import": 0.1}

    def __init__(self, truth: np.ndarray, bias: float = 0.0) -> None:
        self._truth, self._bias = truth, bias

    def render(self, samples: int, seed: int) -> Shot:
        noise = np.random.default_rng((seed, samples)).standard_normal(self._truth.shape)
        picture = _grey(self._truth * (1 + self._bias + 0.4 / math.sqrt(samples) * noise))
        return Shot(picture, samples, 0.01 * samples, 0.02 * samples)


def _measured(*biases: float) -> dict:
    truth = np.full((128, 128), 0.5)
    reference = Reference(truth, np.zeros_like(truth))
    rows = {}
    for title, bias in zip(converge.RENDERERS, biases, strict=False):
        process, average = _Pretend(truth, bias), converge.Average()
        aims = [converge.LIMITS] + (converge.SEEDS - 1) * [converge.BY_BLOCKS]
        climbs = [converge._climb(process, reference, average, aim, seed, 256) for seed, aim in enumerate(aims)]
        rows[title] = converge._summary(process, climbs, average.agreement(reference))
    scene = {"reference": "none", "size": (128, 128), "triangles": 2, "surfaces": 4, "floors": {1: 0, 8: 0, 16: 0}}
    return {"threads": 2, "seeds": converge.SEEDS, "scenes": {"flat": {**scene, "renderers": rows}}}


def test_climbs_end_where_all_limits_are_met_and_give_their_cost() -> None:
    data = _measured(0.0)
    (row,) = data["scenes"]["flat"]["renderers"].values()
    for climb in row["climbs"]:
        assert climb["samples"] == [1, 2, 4, 8, 16, 32, 64, 128][: len(climb["samples"])]
        assert climb["errors"][8][-1] <= 0.01 and climb["errors"][16][-1] <= 0.01
    first = row["climbs"][0]["errors"][1]
    assert first[-1] <= 0.05 < first[-2]
    found = row["limits"]["8 x 8 1 %"]
    assert found["samples"] == pytest.approx((0.4 / 8 / 0.01) ** 2, rel=0.3)
    assert found["seconds"] == pytest.approx(0.01 * found["samples"]) and found["cpu_seconds"] > found["seconds"]
    assert row["limits"]["pixels 5 %"]["samples"] == pytest.approx(64, rel=0.05)
    assert row["agreement"]["agrees"] and abs(row["agreement"]["mean"]) < 0.003


def test_a_renderer_that_does_not_agree_is_void() -> None:
    data = _measured(0.0, 0.03)
    good, biased = data["scenes"]["flat"]["renderers"].values()
    assert good["agreement"]["agrees"] and not biased["agreement"]["agrees"]
    assert biased["agreement"]["mean"] == pytest.approx(0.03, rel=0.1)
    seconds, samples = converge._tables({**data, "models": {}})
    for table in (seconds, samples):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert "void" not in table.rows[0] and "void" in table.rows[1]


# -- equal counts --------------------------------------------------------------------------------------------------


def test_variance_is_that_between_pictures_of_blocks_over_their_squared_means() -> None:
    random = np.random.default_rng(4)
    mean = np.where(np.arange(64)[:, None] < 32, 0.5, 2.0) * np.ones((64, 64))
    pictures = mean * (1 + 0.1 * random.standard_normal((6, 64, 64)))
    # 4,096 pixels with 5 degrees each are known to 1 %, 64 blocks to 11 %: four of these.
    assert converge.variance(pictures, 1) == pytest.approx(0.01, rel=0.05)
    assert converge.variance(pictures, 8) == pytest.approx(0.01 / 64, rel=0.45)
    dark = np.concatenate([pictures, np.zeros((6, 64, 64))], axis=2)  # black beside it has no noise
    assert converge.variance(dark, 1) == pytest.approx(0.005, rel=0.05)


def test_tables_of_equal_counts_have_work_beside_cycles_unless_pictures_differ() -> None:
    def row(variance: float, cpu: float, off: float | None) -> dict:
        noise = {"variance_1": variance, "variance_8": variance / 64}
        return {"version": "1", "cpu_seconds": cpu, "off": off, **noise}

    rows = {"Ours": row(0.01, 2.0, 0.01), "Cycles": row(0.04, 1.0, 0.0), "Cycles, blue noise": row(0.02, 4.0, 0.0)}
    data = {"size": (8, 8), "samples": 16, "renderers": {**rows, "Astray": row(0.01, 1.0, 0.06)}}
    model = converge.model_table("one", data)
    ours, cycles, _, astray = model.rows
    assert ours[1:4] == pytest.approx((10.0, 1.25, 2.0)) and ours[4:6] == pytest.approx((0.5, 0.5))
    assert cycles[4:6] == pytest.approx((1.0, 1.0)) and astray[4:6] == ("void", "void")
    alone = converge.model_table("one", {**data, "renderers": {"Ours": row(0.01, 2.0, None)}})
    assert alone.rows[0][4:] == (None, None, None)
    for table in (model, alone):
        assert all(len(row) == len(table.columns) for row in table.rows)


# -- peers ---------------------------------------------------------------------------------------------------------


def _job(tmp_path: Path, module: str) -> Job:
    return Job("Some peer", module, "scalar_rgb", "independent", "", str(tmp_path / "a.npz"), (16, 16), 4, 1)


def test_arrays_hold_the_scene(tmp_path: Path) -> None:
    scene = raystream.load("cornell")
    write_arrays(tmp_path / "a.npz", scene)
    with np.load(tmp_path / "a.npz") as arrays:
        parts = by_material(arrays)
        assert sum(len(triangles) for _, _, triangles in parts) == scene.triangle_count
        corners = np.concatenate([positions[triangles] for _, positions, triangles in parts])
        assert np.allclose(np.sort(corners.ravel()), np.sort(scene.flatten().corners().ravel()))
        assert arrays["emission"].max() > 0 and arrays["fov"] == scene.camera().fov
    scene.materials[0].kind = "mirror"
    with pytest.raises(Missing, match="Lambert"):
        write_arrays(tmp_path / "b.npz", scene)


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for the peer's Python")
def test_a_peer_that_is_not_there_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\necho could not do it >&2\nexit 3\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setenv("RAYSTREAM_PEERS_PYTHON", str(tmp_path / "python"))
    with pytest.raises(Missing, match=r"^Some peer: its process ended with status 3: could not do it$"):
        Process(_job(tmp_path, "peers_mitsuba")).__enter__()
    monkeypatch.setenv("RAYSTREAM_PEERS_PYTHON", str(tmp_path / "nothing"))
    with pytest.raises(Missing, match="does not start"):
        Process(_job(tmp_path, "peers_mitsuba")).__enter__()
    monkeypatch.delenv("RAYSTREAM_PEERS_PYTHON")
    with pytest.raises(Missing, match=r"^Some peer: .*No module named 'benchmarks\.noise\.no_such_peer'"):
        Process(_job(tmp_path, "no_such_peer")).__enter__()
