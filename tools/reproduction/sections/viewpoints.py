"""What a ray does from many viewpoints of a scene, of which the papers print one each (D 5.2.1)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.scene.camera import Camera
from reproduction.simulators.machines import OTHER_PASSES, TWENTY
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.schedule import Simulation
from reproduction.simulators.walk import walk

from .. import measured
from ..context import Context
from ..published.chapter5 import VIEWS
from ..report import FITTED, LONGEST, Cell, Parts, beside, section, tabled, told

EDGE, QUICK_EDGE = 256, 48  # pixels along a picture
VIEWPOINTS, QUICK_VIEWPOINTS = 12, 3
# The eye goes around the middle of the scene; stands and turns; or looks the same way from a ring, without which the
# view from above would only turn in its plane.
AROUND, TURNED, SHIFTED = "around", "turned", "on a ring"
MOVES = {
    "Soda Hall Outside": AROUND,
    "Soda Hall Inside": TURNED,
    "Forest Top Down": SHIFTED,
    "Forest Inside": TURNED,
    "Bunny Ray Cast": AROUND,
}
RING = 0.2  # radius of the ring, of the scene's shorter horizontal edge
KEYS = ("v", "t", "s", "P")


@section("viewpoints", paper="D 5.2.1, P2 4.1", title="Ranges over viewpoints", order=3)
def make(context: Context) -> Parts:
    """v, t, s and P of twelve viewpoints of each scene: least, median, greatest."""
    edge, number = (QUICK_EDGE, QUICK_VIEWPOINTS) if context.quick else (EDGE, VIEWPOINTS)
    rows: list[tuple[Any, ...]] = []
    for name in (yield from measured.there(context)):
        each = context.keep(
            ("viewpoints", name, edge, number),
            lambda name=name: [at(context, name, edge, k / number) for k in range(number)],
        )
        rows += [(name, MOVES[name], key, *_range(name, key, each)) for key in KEYS]
    yield told("viewpoints", number=number)
    yield tabled("least_median_and_greatest_of", rows, edge=edge, number=number)


def viewpoint(camera: Camera, low: NDArray, high: NDArray, share: float, move: str) -> Camera:
    """A camera a share of a turn further. low, high : (3,) of the scene, y upwards; move : a value of `MOVES`."""
    cosine, sine = math.cos(math.tau * share), math.sin(math.tau * share)
    eye, target, up = (np.array(each, float) for each in (camera.origin, camera.target, camera.up))
    if move == SHIFTED:
        aside = RING * min(high[0] - low[0], high[2] - low[2]) * np.array([cosine, 0, sine])
        eye, target = eye + aside, target + aside
    else:
        turn = np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])
        about = eye if move == TURNED else (low + high) / 2
        eye, target, up = turn @ (eye - about) + about, turn @ (target - about) + about, turn @ up
    parts: dict[str, Any] = {
        name: tuple(map(float, each)) for name, each in (("origin", eye), ("target", target), ("up", up))
    }
    return replace(camera, **parts)


def at(context: Context, name: str, edge: int, share: float) -> list[float]:
    """v, t, s and P of a viewpoint."""
    space = measured.space(context, name)
    low, high = space.box[:2].astype(float)
    camera = viewpoint(measured.camera(context, name), low, high, share, MOVES[name])
    runs, state = walk(space, eye_rays(camera, (edge, edge)))
    passes = Simulation(runs).play(TWENTY).passes + OTHER_PASSES
    return [float(runs.steps.mean()), float(runs.tests.mean()), float((state.triangle >= 0).mean()), float(passes)]


def _range(name: str, key: str, each: list[list[float]]) -> tuple[str, Cell, str]:
    """Least, median beside the published value, greatest."""
    values = [one[KEYS.index(key)] for one in each]
    printed = VIEWS[name].passes if key == "P" else getattr(VIEWS[name], key)
    shown = ".0f" if key == "P" else ".2f" if key == "s" else ".1f"
    least, median, greatest = (format(f(values), shown) for f in (min, np.median, max))
    within = "within" if min(values) <= printed <= max(values) else "outside"
    why = f"{LONGEST if key == 'P' else FITTED}; the published value lies {within} the range"
    return least, beside(printed, median, why), greatest
