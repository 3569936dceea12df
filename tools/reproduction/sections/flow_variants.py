"""D 4.1.2, P2 2.2 and 3.2: ways to leave rays out of a pass, and to tell the host how many wait, run and compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from raystream.renderer.renderer import Renderer
from reproduction.simulators.counts import RECIPE

from .. import timed
from ..context import Context
from ..kept import digest
from ..report import OWN, Check, Parts, concluded, section, tabled

SIZE, QUICK = 256, 32
AGAIN = "depth, query, again"  # the same work timed twice
GRID = 8
MACHINE: dict[str, Any] = {
    **RECIPE,
    "program": "cast",
    "grid": GRID,
    "machine": "multipass",
    "fuse": "none",
    "unroll": 1,
}
# What each is in the papers.
MASKS = {
    "kill": "a mask pass for each kernel, which discards the others",
    "depth": "depth of the state, GL_EQUAL (D 4.1.2)",
    "stencil": "stencil of the state (P2 2.2)",
    "tiles": "tiles of 16 x 16 whose rays wait (D 6.3.3)",
    "none": "none: every kernel looks at the state itself",
}
COUNTS = {"query": "occlusion queries (D 4.1.2)", "census": "counters of every tile, near P2's eight counters"}


@section(
    "flow_variants",
    paper="D 4.1.2, P2 2.2, P2 3.2",
    title="Flow control: masks and counts compared (section 4.1.2)",
    timed=True,
)
def flow_variants(context: Context) -> Parts:
    """The Cornell box cast by each."""
    edge = QUICK if context.quick else SIZE
    wanted = [(mask, "query") for mask in MASKS] + [("depth", "census")]
    found = [
        context.keep(("passes", mask, count, edge), lambda m=mask, c=count: _run(context, m, c, edge))
        for mask, count in wanted
    ]
    times = timed.keep(context, ("flow", edge), lambda: _pictures(context, wanted, edge))
    rows = []
    for (mask, count), each in zip(wanted, found, strict=True):
        numbers = (each[name] for name in ("passes", "masks", "counts", "waits"))
        rows.append((f"{mask}, {count}", MASKS[mask], COUNTS[count], *numbers, _ms(times[f"{mask}, {count}"])))
    same = len({each["picture"] for each in found}) == 1
    passes = {each["passes"] for each in found}
    word = "yes" if same else "no"
    checks = [
        Check(OWN, "all give the same picture, bit for bit", "yes", word, same, "pictures differ"),
        Check(OWN, "all need the same passes of kernels", "one number", sorted(passes), len(passes) == 1, "several"),
        timed.alike("depth, query, timed twice in turns", times["depth, query"].wall, times[AGAIN].wall),
    ]
    yield tabled("the_cornell_box_by_each", rows, checks, edge=edge, grid=GRID, device=context.device_name)
    by_mask = {mask: times[f"{mask}, {count}"].median for mask, count in wanted if count == "query"}
    masked = [by_mask[mask] < by_mask["none"] for mask in ("depth", "stencil") if mask in by_mask and "none" in by_mask]
    if masked:
        yield concluded(
            "masked_early", masked, ", ".join(f"{mask} {1e3 * seconds:.3g} ms" for mask, seconds in by_mask.items())
        )


def _renderer(context: Context, mask: str, count: str) -> Renderer:
    return Renderer("cornell", device=context.device, mask=mask, count=count, policy="threshold=0.2", **MACHINE)


def _pictures(context: Context, wanted: list[tuple[str, str]], edge: int) -> timed.Cases:
    """Every variant, and one of them twice."""
    names = {f"{mask}, {count}": (mask, count) for mask, count in wanted} | {AGAIN: ("depth", "query")}
    return timed.pictures({name: _renderer(context, *each) for name, each in names.items()}, (edge, edge))


def _ms(found: timed.Timed) -> str:
    return found.wall.of(lambda seconds: 1e3 * seconds).text()


def _run(context: Context, mask: str, count: str, edge: int) -> dict[str, Any]:
    """A picture and its counters, of all passes of the published loop."""
    renderer = _renderer(context, mask, count)
    picture = renderer.render((edge, edge), spp=1, stats=True)
    stats = picture.stats
    renderer.release()
    return {
        "picture": digest(np.asarray(picture.linear, np.float32).tobytes().hex()),
        "passes": stats.kernel_passes,
        "masks": stats.mask_passes,
        "counts": stats.count_passes,
        "waits": stats.waits,
    }
