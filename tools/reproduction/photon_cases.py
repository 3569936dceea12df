"""What is timed and counted of photon mapping (T. J. Purcell, *Ray Tracing on a Stream Processor*, 2004, 6.3): pictures
by stages, estimates by mask, sorts, and photons that are read back, each as cases of `timed.keep`, made ready and given
back; and the estimate's calls by pixel, which do not depend on the machine's load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.base.errors import ViewerError
from raystream.kernels.photons import ENTRY, FIRST
from raystream.photons.grid import VERTEX, PhotonSort, cell_size, list_size, read_vertices
from raystream.renderer.device.tile_job import PICTURE
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin.caustics import PUBLISHED
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream

from .published.chapter6 import TABLE_6_1
from .timed import Case, Cases, Releasing

STAGES = ("trace photons", "build grid", "trace rays", "radiance estimate")
NOTHING = 1e-6  # scene units: a search radius within which no photon lies
MAPS = ("sort", "stencil")
# Table 6.1 as this project would run it, and by the passes of the dissertation: every state a pass of its own, tiles of
# 16 x 16 whose rays wait; as many calls of a loop in a pass as rays need, since a picture takes minutes with one.
FAST, PASSES = "fused", "unfused, tiles"
WAYS: dict[str, dict[str, Any]] = {FAST: {}, PASSES: {"fuse": "none", "mask": "tiles"}}
TILES = {"one quad": "none", "16 x 16 tiles": "tiles", "depth mask": "depth"}
AGAIN = "again"  # the same work a second time
CELLS = 1 << 16  # of the grid that random photons are sorted by
FEW = {"photons": 512, "caustic_photons": 512, "photon_grid": (25, 1, 25), "light_samples": 1}


def renderer_of(name: str, device: Device, quick: bool, **more: Any) -> tuple[Renderer, tuple[int, int]]:
    """The renderer of a published scene with its settings, and the size of its pictures."""
    settings = dict(PUBLISHED[TABLE_6_1[name].scene])
    width, height = settings.pop("size")
    size = (width // 8, height // 8) if quick else (width, height)
    settings |= FEW if quick else {}
    choices = {"program": "photon", "estimate": "published", "machine": "multipass", **settings, **more}
    return Renderer(raystream.load(TABLE_6_1[name].scene), device=device, **choices), size


def stored_photons(renderer: Renderer) -> Any:
    """The photons in the map of the last picture."""
    with renderer.device.current():
        photons = renderer.photon_map.streams["photons"].read().ravel()
    return photons[photons["stored"] > 0]


def stored(renderer: Renderer) -> int:
    """Their number."""
    with renderer.device.current():
        return int((renderer.photon_map.streams["photons"].fields(["stored"])["stored"] > 0).sum())


# -- seconds ----------------------------------------------------------------------------------------------------------


def stage_seconds(renderer: Renderer, size: tuple[int, int]) -> dict[str, float]:
    """Seconds of each of `STAGES` by the clock, of a picture of ``size`` with one sample, photons and map included.

    The picture is rendered twice: whole, and with a search radius that holds no photon, which is the time of the rays;
    the estimate's is the rest. What is not yet compiled counts, so that a first call is for that. Raises ViewerError
    for another program than photon.
    """
    program = renderer.program()
    if "photons" not in program.inputs:
        raise ViewerError("stages", f"program {program.name} has no photon map", "take the program photon")
    radius = renderer.settings.photon_radius
    times = _times(renderer, size)
    renderer.update(photon_radius=NOTHING)
    rays = _times(renderer, size)[PICTURE]
    renderer.update(photon_radius=radius)
    picture = times.pop(PICTURE)
    return {**times, STAGES[2]: rays, STAGES[3]: max(picture - rays, 0.0)}


def _times(renderer: Renderer, size: tuple[int, int]) -> dict[str, float]:
    """Seconds of a picture by stage."""
    with renderer.sampler.timed() as times:
        renderer.render(size, spp=1)
    return dict(times)


@contextmanager
def _by_settings(
    name: str,
    device: Device,
    quick: bool,
    ways: Mapping[str, Mapping[str, Any]],
    case: Callable[[Renderer, tuple[int, int]], dict[str, float]],
    part: int = 1,
    blank: bool = True,
) -> Iterator[Mapping[str, Case]]:
    """Cases by settings of the renderer of a scene: a function of it, and of 1 / ``part`` of its size.

    blank : whether it is compiled by a picture without photons, as one of many passes takes a minute.
    """
    with Releasing() as held:
        cases: dict[str, Case] = {}
        for way, settings in ways.items():
            renderer, whole = renderer_of(name, device, quick, **settings)
            size = whole if quick else (whole[0] // part, whole[1] // part)
            cases[way] = partial(case, held.own(renderer), size)
            if blank:
                renderer.update(photon_radius=NOTHING)
                renderer.render(size, spp=1)
                renderer.update(photon_radius=0)
        yield cases


def stages(name: str, device: Device, quick: bool, way: str) -> Cases:
    """A scene of table 6.1 by each map: seconds by stage, and the photons stored."""

    def case(renderer: Renderer, size: tuple[int, int]) -> dict[str, float]:
        return {**stage_seconds(renderer, size), "stored": stored(renderer)}

    return _by_settings(name, device, quick, {kind: {"photon_map": kind, **WAYS[way]} for kind in MAPS}, case)


def builds(name: str, device: Device, quick: bool) -> Cases:
    """The map of a scene by sort, by stencil routing, and by routing with the photons read back first: seconds by
    stage, behind which a picture of few pixels is made."""
    ways = {"sort": {"photon_map": "sort"}, "stencil": {"photon_map": "stencil"}}
    ways["read-back"] = {**ways["stencil"], "photon_points": "read-back"}
    return _by_settings(name, device, quick, ways, lambda renderer, _: _times(renderer, (8, 8)), blank=False)


def masks(name: str, device: Device, quick: bool, part: int, ways: Mapping[str, Mapping[str, Any]]) -> Cases:
    """The picture of a scene by several masks, behind the map by sort, 1 / ``part`` of the published width and height,
    nothing fused: its seconds, passes, and tiles drawn."""

    def case(renderer: Renderer, size: tuple[int, int]) -> dict[str, float]:
        with renderer.sampler.timed() as times:
            stats = renderer.render(size, spp=1).stats
        return {"seconds": times[PICTURE], "passes": stats.kernel_passes, "tiles": stats.tiles}

    unfused = {way: {"fuse": "none", **settings} for way, settings in ways.items()}
    return _by_settings(name, device, quick, unfused, case, part)


@contextmanager
def sorts(device: Device, counts: Sequence[int]) -> Iterator[Mapping[str, Case]]:
    """Random photons sorted by cell, and the first of every cell searched for: seconds of both, the passes of the sort,
    and 1 where the list is in order. The first number of photons once more as `AGAIN`."""
    made: dict[int, tuple[PhotonSort, Stream]] = {}
    entries = {photons: random_entries(photons) for photons in counts}

    def case(photons: int) -> dict[str, float]:
        sort, first = made[photons]
        with device.current():
            sort.list.write(entries[photons])
            device.wait()
            seconds = _drawn(device, sort.sort), _drawn(device, lambda: sort.search(first))
            right = bool((np.diff(sort.list.read().ravel()["cell"]) >= 0).all())
        return {"sort": seconds[0], "search": seconds[1], "passes": sort.passes, "sorted": float(right)}

    with Releasing() as held:
        held.enter_context(device.current())
        for photons in counts:
            sort = held.own(PhotonSort(device, list_size(photons)))
            made[photons] = sort, held.own(Stream(device, FIRST, cell_size(CELLS)))
        yield {f"{photons}": partial(case, photons) for photons in counts} | {AGAIN: partial(case, counts[0])}


def random_entries(photons: int) -> Any:
    """(height, width) `ENTRY` of a list of photons in random cells, and padding beyond all of them."""
    width, height = list_size(photons)
    entries = np.zeros(width * height, ENTRY.dtype)
    entries["cell"] = CELLS
    entries["cell"][:photons] = np.random.default_rng(1).integers(0, CELLS, photons)
    entries["photon"] = np.arange(len(entries))
    return entries.reshape(height, width)


def _drawn(device: Device, job: Callable[[], Any]) -> float:
    """Seconds of a job of draws."""
    began = perf_counter()
    for step in job():
        step.draw()
    device.wait()
    return perf_counter() - began


@contextmanager
def read_backs(device: Device, counts: Sequence[int]) -> Iterator[Mapping[str, Case]]:
    """A map by stencil routing of so many photons emitted, which the vertex program fetches, and which are read back
    before: seconds to trace and to build, of the read-back by itself, and the photons stored."""
    with Releasing() as held:
        cases: dict[str, Case] = {}
        for photons in counts:
            for way in ("fetch", "read-back"):
                settings: dict[str, Any] = {
                    **{"program": "photon", "estimate": "published", "photon_grid": "250x1x250"},
                    **{"photon_map": "stencil", "photon_points": way, "photons": photons, "caustic_photons": 0},
                }
                renderer = Renderer(raystream.load("glass_ball"), device=device, **settings)
                held.own(renderer)
                cases[f"{photons} {way}"] = lambda renderer=renderer, way=way: _routed(renderer, way == "read-back")
        yield cases


def _routed(renderer: Renderer, reads: bool) -> dict[str, float]:
    times = _times(renderer, (8, 8))
    found = {"build": times["build grid"], "trace": times["trace photons"], "stored": stored(renderer)}
    return {**found, "reading": _reading(renderer)} if reads else found


def _reading(renderer: Renderer) -> float:
    """Seconds to read the photons back and upload them as vertices, as in `StencilRouting`."""
    photons = renderer.photon_map.streams["photons"]
    with renderer.device.current():
        renderer.device.wait()
        began = perf_counter()
        buffer = renderer.device.context.buffer(read_vertices(photons).tobytes() or bytes(VERTEX.itemsize))
        buffer.release()
        renderer.device.wait()
        return perf_counter() - began


# -- counts -----------------------------------------------------------------------------------------------------------

VISITS = ("cell", "photon")  # states: an iteration of the published kernel is a call of either


class Drawn(NamedTuple):
    """Of an estimate of one iteration a pass. passes : until the last pixel is done; draws : of tiles; fragments : of
    these, the pixels beyond the picture's edge left out."""

    passes: int
    draws: int
    fragments: int


def calls(renderer: Renderer, size: tuple[int, int]) -> dict[str, NDArray[np.int64]]:
    """(H, W) calls of each of `VISITS` in a picture of one sample, of all surfaces that a pixel's rays come to."""
    found = renderer.render(size, spp=1, stats=True).stats.calls
    return {state: found[state].astype(np.int64) for state in VISITS}


def in_tiles(visits: NDArray[np.int64], edge: int) -> Drawn:
    """Tiles of ``edge`` x ``edge`` pixels, each drawn until its last pixel of (H, W) visits is done."""
    height, width = visits.shape
    rows, columns = -(-height // edge), -(-width // edge)
    padded = np.zeros((rows * edge, columns * edge), np.int64)
    padded[:height, :width] = visits
    longest = padded.reshape(rows, edge, columns, edge).max(axis=(1, 3))
    inside = np.minimum(edge, height - edge * np.arange(rows))[:, None] * np.minimum(
        edge, width - edge * np.arange(columns)
    )
    return Drawn(int(visits.max()), int(longest.sum()), int((longest * inside).sum()))


def gains(visits: NDArray[np.int64], edges: Sequence[int]) -> dict[str, Any]:
    """Of one quad over tiles of each edge, in fragments, and over a mask of single pixels; with what is drawn."""
    height, width = visits.shape
    quad = int(visits.max()) * height * width
    tiles = {str(edge): in_tiles(visits, edge) for edge in edges}
    return {
        "tiles": {edge: list(each) for edge, each in tiles.items()},
        "gains": {edge: quad / max(each.fragments, 1) for edge, each in tiles.items()},
        "quad": quad,
        "pixels": height * width,
        "longest": int(visits.max()),
        "mean": float(visits.mean()),
    }
