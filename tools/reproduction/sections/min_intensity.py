"""A 2: the rays and the pictures of paths that a least intensity ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import raystream

from ..context import Context
from ..published.adinetz import SIZE, TABLE
from ..report import OWN, Check, Parts, concluded, listed, section, tabled
from ..timed import Releasing
from .adinetz import SETTINGS

# Two stand-ins of A's; and glass, of which each surface has two children.
SCENES = {"SR71A": TABLE["SR71A"].scene, "PalmPC": TABLE["PalmPC"].scene, "Glass ball of P3": "glass_ball"}
DEEP, LESS_DEEP = 16, 12  # the greatest depths: of rays that a least intensity is to end first
VISIBLE = 1 / 256  # a step of 8 bits
LEAST = (VISIBLE, 4 * VISIBLE, 16 * VISIBLE)  # weights


@section("min_intensity", paper="A 2", title="Paths that a least intensity ends (section 2)")
def make(context: Context) -> Parts:
    """Reflected and refracted rays with and without, and how far the pictures differ."""
    edge = SIZE // 8 if context.quick else SIZE // 2
    rows, saved, ended, other, beyond = [], [], [], 0, 0
    for name, scene in SCENES.items():
        found = context.keep(("rays", name, edge), lambda scene=scene: rays(context, scene, edge))
        everything = found["0"]["rays"]
        for least in (0.0, *LEAST):
            each = found[f"{least:g}"]
            what = f"{name}, 1 / {1 / least:g}" if least else f"{name}, none"
            off = (f"{255 * each['most']:.0f}", f"{255 * each['mean']:.3f}") if least else (None, None)
            rows.append((what, f"{each['rays']:,}", f"{1 - each['rays'] / everything:.1%}", *off))
            other += each["other"]
        visible = found[f"{VISIBLE:g}"]
        saved.append(f"{1 - visible['rays'] / everything:.0%} of {name}")
        ended.append(visible["rays"] == visible["less deep"])
        beyond += visible["rays"] - visible["less deep"]
    what, why = (
        "pixels of which every ray is traced keep their bits",
        "the test of the weight changes what is not left out",
    )
    check = Check(OWN, what, "0 others", f"{other:,} others", other == 0, why)
    yield tabled("rays_with_a_least_intensity", rows, [check], edge=edge, deep=DEEP)
    yield concluded(
        "ends_early",
        ended,
        f"by a weight of 1 / {1 / VISIBLE:g} alone all paths end before surface {LESS_DEEP}, but for {beyond:,} rays "
        f"that glass reflects totally, which takes nothing of their weight; rays left out: {listed(saved)}",
    )


def rays(context: Context, name: str, edge: int) -> dict[str, Any]:
    """Of each least weight (``"0"``: none) the reflected and refracted rays, also with `LESS_DEEP` surfaces; the
    largest and the mean difference of the display's values from the picture of all rays; and pixels that are others
    though every ray was traced."""
    results: dict[str, Any] = {}
    settings = {**SETTINGS, "depth": DEEP}
    with Releasing() as held:
        renderer = held.own(raystream.Renderer(context.scene(name), device=context.device, **settings))

        def picture(least: float, depth: int) -> raystream.Picture:
            renderer.update(min_intensity=least, depth=depth)
            return renderer.render((edge, edge), spp=1, stats=True)

        whole = picture(0.0, DEEP)
        for least in (0.0, *LEAST):
            each = picture(least, DEEP)
            off = np.abs(displayed(each) - displayed(whole))
            traced = each.stats.calls["arrive"] == whole.stats.calls["arrive"]
            differ = (np.asarray(each.linear) != np.asarray(whole.linear)).any(axis=2)
            results[f"{least:g}"] = {
                "rays": spawned(each),
                "less deep": spawned(picture(least, LESS_DEEP)),
                "most": float(off.max()),
                "mean": float(off.mean()),
                "other": int((differ & traced).sum()),
            }
    return results


def displayed(picture: raystream.Picture) -> NDArray[np.float32]:
    """A picture as it is displayed, 0 to 1."""
    return picture.srgb8(exposure=0.0, tonemap="none").astype(np.float32) / np.float32(255)


def spawned(picture: raystream.Picture) -> int:
    """The reflected and refracted rays of a counted picture: those that arrive, less the camera's."""
    calls = picture.stats.kernels
    return calls["arrive"].calls - calls["root"].calls
