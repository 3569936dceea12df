"""D 6.4.4: a hash table of cells in place of the dense grid, and what it does to the redistribution of power."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from raystream.photons.grid import PhotonGrid
from reproduction.simulators.photons import buckets, redistributed

from ..context import Context
from ..photon_cases import renderer_of
from ..published.chapter6 import ROUTED, SETTINGS
from ..report import CLAIM, TWICE, Check, Parts, concluded, section, tabled, told

PLACES = (65_536, 16_384, 4_096)  # of the hash table
EXACT = 1e-9  # of all power: rounding of sums
CONSERVED = 0.02  # of the total power: photons are not all alike


@section("photon_hashing", paper="D 6.4.4", title="A hash table of cells, and the redistribution of power", order=6)
def make(context: Context) -> Parts:
    """Photons of the three scenes routed into the dense grid and into hash tables."""
    names = tuple(SETTINGS)[:1] if context.quick else tuple(SETTINGS)
    found = {name: context.keep(("hashing", name), lambda name=name: tables(context, name)) for name in names}
    yield told("photon_hashing", routed=ROUTED)
    rows, checks = [], []
    for name, each in found.items():
        for table, numbers in each["tables"]:
            percent = [f"{100 * numbers[key]:.1f} %" for key in ("shared", "lost", "empty", "total", "apart", "own")]
            rows.append((name, table, f"{numbers['cells']:,}", *percent))
        dense, *hashed = (numbers for _, numbers in each["tables"])
        what = f"{name}: with a hash, power of cells by what came to their place is off by more than in the dense grid"
        ends = (f"{100 * hashed[at]['apart']:.1f} % ({PLACES[at]:,} places)" for at in (0, -1))
        ours = f"dense grid {100 * dense['apart']:.1f} %, hash {' and '.join(ends)}"
        more = hashed[-1]["apart"] >= TWICE * max(dense["apart"], EXACT)
        why = "cells that share a place take each other's room"
        checks.append(Check(CLAIM, what, "not trivial", ours, more, why, f"{TWICE:g} times as much, or more"))
        off = abs(dense["total"] - 1)
        what = f"{name}, dense grid: scaled by what came over what is kept, the total power stays (D 6.2.2)"
        why = f"photons are taken to have the same power, and theirs are {each['spread']:.0%} of "
        why += "the mean apart (standard deviation); the newest of a place are not its average"
        bound = f"to {CONSERVED:.0%}"
        checks.append(Check(CLAIM, what, "off by 0 %", f"off by {100 * off:.1f} %", off <= CONSERVED, why, bound))
    yield tabled("photons_routed_into_the_dense", rows, checks)
    for claim, what, of in (
        ("hash_redistribution", "power of cells off, as a share of all power", checks[::2]),
        ("scaled_power", "total power, dense grid", checks[1::2]),
    ):
        figures = "; ".join(f"{name} {check.ours}" for name, check in zip(found, of, strict=True))
        yield concluded(claim, of, f"{what}: {figures}")


def tables(context: Context, name: str) -> dict[str, Any]:
    """Of a scene: ``tables``, what became of its photons, by table, the dense grid first; ``spread``, the standard
    deviation of their powers over the mean."""
    renderer, size = renderer_of(name, context.device, False)
    renderer.render((size[0] // 8, size[1] // 8), spp=1)
    with renderer.device.current():
        photons = renderer.photon_map.streams["photons"].read().ravel()
    low, high = np.asarray(renderer.scene.bounds(ground=False), float)
    renderer.release()
    photons = photons[photons["stored"] > 0]
    at, power = photons["position"], photons["power"].astype(float).sum(axis=1)
    dense = PhotonGrid.over(low, high, SETTINGS[name].grid)
    numbers = dense.numbers(at)
    text = " x ".join(map(str, SETTINGS[name].grid))
    found = [[f"dense grid, {text}", asdict(redistributed(numbers, numbers, power, ROUTED))]]
    for places in PLACES:
        cells = PhotonGrid.hashed(low, min(dense.cell[0], dense.cell[2]), places).cells_of(at)
        _, own = np.unique(cells, axis=0, return_inverse=True)
        found.append(
            [f"hash, {places:,} places", asdict(redistributed(own.ravel(), buckets(cells, places), power, ROUTED))]
        )
    return {"tables": found, "spread": float(power.std() / power.mean())}
