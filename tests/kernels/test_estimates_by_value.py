"""Steps of radiance estimates, kernel by kernel: which cells and photons are looked at, and what comes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_call import INTERACTION, Kernel
from numpy.typing import NDArray

from raystream.kernels.photons import ARRIVAL, ESTIMATE, PHOTON, STORED
from raystream.kernels.records import PATH, RADIANCE

COUNT = 400
LOW, CELL, RESOLUTION = np.array([-1.0, 0.5, 2.0]), np.array([0.5, 0.25, 0.4]), np.array([5, 6, 4])
K, REACH, FOOTPRINT, CAUSTIC, EYE = 8, 0.45, 0.05, 0.5, np.array([3.0, 1.0, 2.0])
SETTINGS: dict[str, tuple[str, Any]] = {
    "estimate_photons": ("int", K),
    "estimate_reach": ("float", REACH),
    "estimate_footprint": ("float", FOOTPRINT),
    "estimate_eye": ("vec3", tuple(EYE)),
    "estimate_exact": ("int", 0),
    "estimate_slope": ("float", 1.0),
    "estimate_exponent": ("int", 0),
    "estimate_integral": ("float", 1.0),
    "estimate_caustic": ("float", CAUSTIC),
    "photon_grid_low": ("vec3", tuple(LOW)),
    "photon_grid_cell": ("vec3", tuple(CELL)),
    "photon_grid_resolution": ("ivec3", tuple(RESOLUTION.tolist())),
    "photon_grid_buckets": ("int", 0),
    "photon_grid_kinds": ("int", 2),
}
CONSTANTS = {f"PHOTON_{name.upper()}": number for name, number in STORED.items()}
# The photon at place n is n % 5 cells and a little from the origin of the grid, and every third is caustic.
PHOTON_AT = """
Photon photon_at(int place) {
    vec3 position = photon_grid_low + photon_grid_cell * (vec3(place % 5, place % 4, place % 3) + 0.25);
    int stored = place % 3 == 0 ? PHOTON_CAUSTIC : PHOTON_INDIRECT;
    return Photon(position, stored, vec3(1.0, 2.0, 3.0) + float(place), 1, normalize(vec3(place % 7 - 3, 1.0, 0.5)));
}
"""
BSDF = """
vec3 bsdf_value(Interaction at, vec3 wo, vec3 wi) { return dot(at.shading, wi) * vec3(at.first, at.second, wo.x); }
"""


def kernel(device: Any, signature: str, *exits: str, text: str = "") -> Kernel:
    records = [INTERACTION, ESTIMATE, PHOTON, ARRIVAL, PATH, RADIANCE]
    return Kernel(device, signature, exits, records, SETTINGS, CONSTANTS, text, ["shading/estimate.glsl"])


def positions_of(place: NDArray) -> NDArray:
    return LOW + CELL * (np.stack([place % 5, place % 4, place % 3], axis=1) + 0.25)


def limit(position: NDArray, caustic: NDArray) -> NDArray:
    radius = REACH + FOOTPRINT * np.linalg.norm(position - EYE, axis=1)
    return (radius * np.where(caustic == 1, CAUSTIC, 1.0)) ** 2


def surfaces(random: np.random.Generator) -> NDArray:
    at = np.zeros(COUNT, INTERACTION.dtype)
    at["position"] = LOW + CELL * RESOLUTION * random.uniform(0.02, 0.98, (COUNT, 3))
    at["shading"] = (0.0, 0.6, 0.8)
    at["wo"] = (0.75, 0.0, 0.5)
    at["first"], at["second"] = 0.25, 0.5
    return at


def estimates(random: np.random.Generator, at: NDArray) -> NDArray:
    estimate = np.zeros(COUNT, ESTIMATE.dtype)
    estimate["count"] = random.integers(0, 2 * K, COUNT)
    estimate["square"] = random.uniform(0.05, 0.5, COUNT)
    estimate["sum"], estimate["moment"] = random.uniform(1, 2, (2, COUNT, 3))
    estimate["place"] = random.integers(0, 60, COUNT)
    estimate["left"] = random.integers(1, 4, COUNT)
    estimate["caustic"] = random.integers(0, 2, COUNT)
    estimate["cell"] = np.floor((at["position"] - LOW) / CELL)
    return estimate


@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_photons_that_count_and_what_they_add(device: Any, exponent: int) -> None:
    """In one kernel, and found and weighed in two; the power of a photon from the side has no cosine."""
    random = np.random.default_rng(exponent)
    at = surfaces(random)
    estimate = estimates(random, at)
    at["shading"][:40] = (1.0, 0.0, 0.0)
    estimate["place"][:40] = 3 + 7 * (np.arange(40) % 8)  # these graze it
    place, caustic = estimate["place"], estimate["caustic"]
    square = ((positions_of(place) - at["position"]) ** 2).sum(axis=1)
    widens = estimate["count"] < K
    counts = square <= np.where(widens, limit(at["position"], caustic), estimate["square"])
    counts &= (caustic == 0) | (place % 3 == 0)
    assert 20 < counts.sum() < COUNT - 20 and (widens & counts).any() and (~widens & counts).any()
    direction = np.stack([place % 7 - 3.0, np.ones(COUNT), np.full(COUNT, 0.5)], axis=1)
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    power = np.array([1.0, 2.0, 3.0]) + place[:, None]
    side = np.sign((at["shading"] * -direction).sum(axis=1))
    scattered = power * side[:, None] * [0.25, 0.5, 0.75]
    after = estimate.copy()
    after["place"] += 1
    after["left"] -= 1
    after["sum"][counts] += scattered[counts]
    distance = {0: 0.0 * square, 1: np.sqrt(square), 2: square}[exponent]
    after["moment"][counts] += (scattered * distance[:, None])[counts]
    after["count"] += counts
    nearer = widens & counts
    after["square"][nearer] = np.maximum(estimate["square"], square)[nearer]
    ends = np.where(after["left"] > 0, "again", "cell")

    whole = kernel(
        device, "int estimate_photon(in Interaction at, inout Estimate sums)", "again", "cell", text=PHOTON_AT + BSDF
    )
    whole.set(estimate_exponent=exponent)
    exits, (result,) = whole(at, estimate)
    assert exits == ends.tolist()
    same(result, after)

    find = kernel(
        device,
        "int find_photon(in Interaction at, inout Estimate sums, out Arrival arrival)",
        *("found", "again", "cell"),
        text=PHOTON_AT,
    )
    exits, (moved, arrival) = find(at, estimate)
    assert exits == np.where(counts, "found", ends).tolist()
    np.testing.assert_allclose(arrival["square"][counts], square[counts], rtol=1e-4)  # of differences of coordinates
    weigh = kernel(
        device,
        "int weigh_photon(in Interaction at, in Arrival arrival, inout Estimate sums)",
        "again",
        "cell",
        text=BSDF,
    )
    weigh.set(estimate_exponent=exponent)
    exits, (weighed,) = weigh(at[counts], arrival[counts], moved[counts])
    assert exits == ends[counts].tolist()
    same(weighed, after[counts])
    same(moved[~counts], after[~counts])


def same(result: NDArray, expected: NDArray) -> None:
    """To roundings of float32 in differences of coordinates of about 3, and in a handful of sums."""
    for name in expected.dtype.names or ():
        np.testing.assert_allclose(result[name], expected[name], rtol=1e-4, atol=1e-6, err_msg=name)
