"""Frame rates of all papers beside this device's."""

from __future__ import annotations

from typing import Any

from benchmarks.scenes import facing

import raystream
from raystream.scene.builtin import SCENES

from .. import timed
from ..context import Context
from ..published.chapter5 import TABLE_5_4
from ..published.chapter6 import GPU, TABLE_6_1, TOTALS
from ..published.frame_rates import RATES, Rate
from ..report import OTHER_DEVICE, Absent, AbsentError, Parts, beside, section, tabled
from .thesis import model

EDGE = 512  # pixels, where a paper gives no size
GPU_2004 = "Radeon 9700 Pro"
# Of table 5.4, by its columns: the built-in scene and settings.
_SHADOW = {"program": "shadow", "accel": "grid", "first_hits": "raster"}
_GRID = {"program": "whitted", "accel": "grid", "refractions": "off"}
CHAPTER_5 = {
    "Cornell Box": ("cornell", _SHADOW),
    "Teapotahedron, E S R": ("teapotahedron", _GRID),
    "Teapotahedron, E R": ("teapotahedron", {**_GRID, "shadows": "off"}),
    "Quake3": ("chapel.bsp", _SHADOW),
}
SECONDS = "D table 6.1"  # which prints seconds: its rates are derived
QUICK = 8  # times smaller


def rates() -> list[Rate]:
    """Every published frame rate."""
    found = [
        Rate("D table 5.4", name, scene, (256, 256), TABLE_5_4[name].fps, GPU_2004, settings)
        for name, (scene, settings) in CHAPTER_5.items()
        if name in TABLE_5_4
    ]
    for name, totals in TOTALS.items():
        settings = {"program": "photon", "estimate": "published"}
        rate = Rate(SECONDS, name, TABLE_6_1[name].scene, None, 1 / totals[0], GPU, settings)
        found.append(rate)
    return [*found, *RATES]


@section("frame_rates", paper="all", title="Frame rates of all papers beside this device's", order=1, timed=True)
def frame_rates(context: Context) -> Parts:
    """A picture of one sample each, the median of several."""
    rows, absent = [], []
    for rate in rates():
        width, height = _size(rate)
        if context.quick:
            width, height = width // QUICK, height // QUICK
        if "." not in rate.scene and rate.scene not in SCENES:
            absent.append(Absent(f"{rate.paper} {rate.name}", f"no built-in scene '{rate.scene}'"))
            continue
        try:
            if context.quick and rate.scene in ("dragon.ply", "forest"):
                absent.append(Absent(f"{rate.paper} {rate.name}", "takes long: without --quick"))
                continue
            if "." in rate.scene and context.stored is None:
                context.file(rate.scene)
            key = ("rate", rate.paper, rate.name, rate.scene, width, height, rate.settings)
            found = timed.keep(context, key, lambda rate=rate, size=(width, height): _picture(context, rate, size))
        except AbsentError as error:
            absent.append(Absent(f"{rate.paper} {rate.name}", error.part.why))
            continue
        kind = rate.settings["program"]
        fps = found["picture"].wall.of(lambda seconds: 1 / seconds)
        derived = "; derived: one over the printed total, by sort" if rate.paper == SECONDS else ""
        both = beside(rate.fps, fps.text(), f"{OTHER_DEVICE} than the {rate.device}{derived}")
        rows.append((f"{rate.paper}, {rate.name}", rate.device, kind, f"{width} x {height}", both))
    small = f" Width and height are {QUICK} times smaller than published." if context.quick else ""
    heads = {"frames a second": ("published or derived", "ours")}
    yield tabled("all_frames", rows, heads=heads, device=context.device_name, edge=EDGE, small=small)
    yield from absent


def _size(rate: Rate) -> tuple[int, int]:
    if rate.paper == SECONDS:
        from raystream.scene.builtin.caustics import PUBLISHED

        return tuple(PUBLISHED[rate.scene]["size"])
    return rate.size or (EDGE, EDGE)


def _picture(context: Context, rate: Rate, size: tuple[int, int]) -> timed.Cases:
    """The picture of a published rate."""
    from raystream.scene.builtin.caustics import PUBLISHED

    settings: dict[str, Any] = dict(rate.settings)
    if settings["program"] == "photon":
        settings |= {name: value for name, value in PUBLISHED[rate.scene].items() if name not in ("size", "exposure")}
        if context.quick:
            settings |= {"photons": 512, "caustic_photons": 512, "photon_grid": (25, 1, 25), "light_samples": 1}
    scene, camera = model(context, rate.scene) if rate.paper == "T" else (context.scene(rate.scene), None)
    renderer = raystream.Renderer(scene, device=context.device, **settings)
    if camera is not None or not scene.cameras:
        renderer.update(camera=camera or facing(scene))
    return timed.pictures({"picture": renderer}, size)
