"""Steps that keep a path's light apart, count what is hidden, and mirror the floor, kernel by kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray

from raystream.kernels.light_layers import LIGHT_LAYERS, LIGHT_SHARE, LIGHT_SPLIT, LIGHT_SUMS, VISIBILITY
from raystream.kernels.records import FILM, HIT, PATH, PIXEL, RADIANCE, RAY

COUNT = 60
RECORDS = [INTERACTION, MEDIA, PIXEL, PATH, RAY, HIT, FILM, RADIANCE, LIGHT_SHARE, LIGHT_SPLIT, LIGHT_SUMS, VISIBILITY]
SETTINGS: dict[str, tuple[str, Any]] = {
    "path_samples": ("int", 5),
    "path_clamp": ("float", 0.0),
    "floor_height": ("float", -1.0),
    "floor_reach": ("float", 2.0),
}


def numbers(shape: tuple[int, ...], seed: int) -> NDArray:
    return np.random.default_rng(seed).uniform(0.125, 1.0, shape).astype(np.float32)


def split_of(seed: int) -> NDArray:
    split = np.zeros(COUNT, LIGHT_SPLIT.dtype)
    for k, name in enumerate((*LIGHT_LAYERS, "whole")):
        split[name] = numbers((COUNT, 3), 100 * seed + k)
    return split


@pytest.mark.parametrize("clamp", [0.0, 0.5])
def test_a_finished_sample_joins_the_sums_of_its_layers(device: Any, clamp: float) -> None:
    """Scaled as a whole where it is clamped, dropped as a whole where it is broken; and counts either way."""
    split, film, sums = split_of(4), np.zeros(COUNT, FILM.dtype), np.zeros(COUNT, LIGHT_SUMS.dtype)
    split["whole"][0, 1], split["whole"][1, 0], split["whole"][2, 2] = np.nan, 2.0**100, -np.inf
    for k, name in enumerate(LIGHT_LAYERS):
        sums[name] = numbers((COUNT, 3), 50 + k)
    sums["count"], film["count"] = np.arange(COUNT) % 4, 3
    signature = "int finish_light_layers(in LightSplit split, in Film film, inout LightSums sums)"
    finish = Kernel(device, signature, ["again", "done"], RECORDS, SETTINGS)
    finish.set(path_clamp=clamp)
    exits, (after,) = finish(split, film, sums)
    assert exits == np.where(sums["count"] + 1 < 3, "again", "done").tolist()
    np.testing.assert_array_equal(after["count"], sums["count"] + 1)
    with np.errstate(invalid="ignore"):
        largest = split["whole"].max(axis=1)
        scale = np.where((clamp > 0) & (largest > clamp), clamp / largest, 1.0)
    scale[:3] = 0.0
    for name in LIGHT_LAYERS:
        np.testing.assert_allclose(after[name], sums[name] + split[name] * scale[:, None], rtol=1e-5, err_msg=name)
