"""How much of the pictures of T's back ends differs, and why: by level, and with eye rays turned by roundings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.scene.camera import Camera
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.whitted.back_ends import Processor, wide
from reproduction.simulators.whitted.model import Traced

from ..context import Context
from ..report import OWN, Check, Parts, section, tabled
from ..thesis_back_ends import DEPTH, SAME, SHARE, SKY, back_ends, prepared
from .thesis import model, of_scenes

EDGE, QUICK = 136, 40  # about 100,000 intersections, as in the protocol
ROUNDINGS = (1, 16, 256)  # of a float32, by which eye rays are turned at most
RUNS = 8
AMONG = 0.9  # of the pixels that differ
FRAGMENTS, MANY = "singlepass", "multipass"
ROUNDING = np.float32(2.0**-23)


@section("thesis_rounding", paper="T 7", title="Pixels in which the back ends differ", quick=False, order=1)
def make(context: Context) -> Parts:
    """Roundings, magnified from level to level."""
    edge = QUICK if context.quick else EDGE
    levels: list[tuple[Any, ...]] = []
    turned: list[tuple[Any, ...]] = []
    eye, worst, among = [], [], []
    scenes = yield from of_scenes(context, "rounding", lambda file: measured(context, file, edge), edge)
    for name, found in scenes.items():
        for end, shares in found["levels"].items():
            if end == MANY and shares == found["levels"][FRAGMENTS]:
                continue
            levels.append((f"{name}, {end}", *(f"{each:.3%}" for each in shares)))
            eye.append(shares[0])
            worst.append(shares[-1])
        among += [share for *_, share in found["turned"][-1:] if share is not None]
        turned += [
            (f"{name}, {roundings}", *("none differ" if each is None else f"{each:.2%}" for each in row))
            for roundings, row in zip(ROUNDINGS, found["turned"], strict=True)
        ]
    columns = ("scene, back end", *(f"to level {k}" for k in range(DEPTH + 1)))
    yield tabled(
        "share_of_the_pixels_that", levels, columns=columns, edge=edge, same=SAME, many=MANY, fragments=FRAGMENTS
    )
    yield tabled("eye_rays_turned_by_roundings", turned, runs=RUNS)
    same = max(eye) == 0
    what = "without further levels no pixel differs: structure, textures and shading are the same"
    yield Check(OWN, what, "0", f"{max(eye):.3%}", same, "some do")
    if among:
        what = f"of the pixels that differ, those that change with eye rays turned by {ROUNDINGS[-1]} roundings"
        yield Check(
            OWN, what, f"{AMONG:.0%}", f"{min(among):.0%}", min(among) >= AMONG, "to that share, as runs are few"
        )
    what = f"{DEPTH} levels: share of the pixels that differs, at most"
    why = "to the greatest share measured, and three standard deviations of its count"
    yield Check(OWN, what, f"{SHARE:.1%}", f"{max(worst):.2%}", max(worst) <= SHARE, why)


def measured(context: Context, file: str, edge: int) -> dict[str, Any]:
    """levels: by back end the shares with 0 to `DEPTH` levels; turned: by `ROUNDINGS` the shares that change in a run
    and in any, and of the pixels in which fragment programs differ."""
    scene, camera = model(context, file)
    scene, size = prepared(scene), (edge, edge)
    levels: dict[str, list[float]] = {}
    differs: Mapping[str, NDArray[np.bool_]] = {}
    for depth in range(DEPTH + 1):
        with back_ends(context, scene, depth) as draws:
            pictures = {name: draw(camera, size) for name, draw in draws.items()}
        differs = {name: changed(picture, pictures["CPU"]) for name, picture in pictures.items() if name != "CPU"}
        for name, each in differs.items():
            levels.setdefault(name, []).append(float(each.mean()))
    processor = Processor(Traced.of(scene, SKY, DEPTH))
    return {"levels": levels, "turned": [turned(processor, camera, edge, k, differs[FRAGMENTS]) for k in ROUNDINGS]}


def changed(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which pixels (..., 3) differ by more than `SAME` of a channel."""
    return np.abs(one - other).max(axis=-1) > SAME


def turned(
    processor: Processor, camera: Camera, edge: int, roundings: int, differs: NDArray[np.bool_]
) -> tuple[float, float, float | None]:
    """Shares of pixels that change with eye rays turned: in a run, in any, and of those that differ, if any does."""
    eyes, rng = wide(eye_rays(camera, (edge, edge))), np.random.default_rng(roundings)
    straight, _ = processor.trace(eyes)
    runs = []
    for _ in range(RUNS):
        own = eyes.copy()
        own[:, 3:6] *= 1 + roundings * ROUNDING * rng.uniform(-1, 1, (len(eyes), 3)).astype(np.float32)
        runs.append(changed(processor.trace(own)[0], straight))
    any_run = np.any(runs, axis=0)
    among = any_run[differs.ravel()]
    return float(np.mean(runs)), float(any_run.mean()), float(among.mean()) if len(among) else None
