"""D 4.1.2 and 4.1.3: occlusion queries around the kernels' own passes, and around count passes before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import raystream
from raystream.stream.machines.multipass import Multipass
from reproduction.simulators.counts import RECIPE

from .. import timed
from ..context import Context
from ..report import OWN, Check, Parts, listed, section, tabled, told

SIZE, QUICK = 256, 32
SCENES = {"Cornell box": "cornell", "Teapotahedron": "teapotahedron"}
MACHINE: dict[str, Any] = {
    **RECIPE,
    "program": "cast",
    "machine": "multipass",
    "fuse": "none",
    "unroll": 1,
    "mask": "depth",
    "count": "query",
    "policy": "threshold=0.2",
}
LOOP = ("traverse", "intersect")  # its kernels
BEFORE, WITHOUT, OWN_PASS = "count passes", "the same passes, no count", "own passes, in turn"
Waiting = tuple[list[int], bool]  # rays that wait for each kernel, and whether the mask has them


@section(
    "own_pass_query",
    paper="D 4.1.2",
    title="Occlusion queries around kernels' own passes, and before them (section 4.1.2)",
    order=1,
    timed=True,
)
def make(context: Context) -> Parts:
    """What each counts, and what the count passes take."""
    edge = QUICK if context.quick else SIZE
    yield told("own_pass_query")
    rows, shares, wrong, passes = [], [], 0, 0
    for name, scene in SCENES.items():
        found = context.keep(("counts", scene, edge), lambda scene=scene: counts(context, scene, edge))
        times = timed.keep(context, ("seconds", scene, edge), lambda scene=scene: cases(context, scene, edge))
        wrong += found["other"]
        passes += found["passes"]
        for each, (kernels, counted) in found["drawn"].items():
            rows.append((f"{name}, {each}", kernels, counted, times[each].cpu.text()))
        price = times[BEFORE].cpu.median / times[WITHOUT].cpu.median - 1
        shares.append(f"{name} {price:+.0%}")
    what = "the query around a kernel's own pass counts the rays that the count pass before it found"
    expected, own = (f"{each:,} of {passes:,} passes" for each in (passes, passes - wrong))
    check = Check(OWN, what, expected, own, wrong == 0, "the mask of one of the two lets other rays pass")
    values: dict[str, Any] = {"edge": edge, "device": context.device_name, "without": WITHOUT, "shares": listed(shares)}
    yield tabled("passes_by_where_rays_are_counted", rows, [check], **values)


def renderer_of(context: Context, scene: str, **settings: Any) -> raystream.Renderer:
    """A renderer of the published loop."""
    return raystream.Renderer(scene, device=context.device, **{**MACHINE, **settings})


@contextmanager
def recording(answers: list[Waiting]) -> Iterator[None]:
    """What count passes say meanwhile goes into the list."""
    original = Multipass._count_waiting

    def waiting(self: Multipass, stage: Any, before: list[int], served: Sequence[int]) -> Waiting:
        answers.append(original(self, stage, before, served))
        return answers[-1]

    with patch.object(Multipass, "_count_waiting", waiting):
        yield


@contextmanager
def replaying(answers: Sequence[Waiting]) -> Iterator[None]:
    """No count passes meanwhile: what they said is taken from the list, and the mask is made for each pass."""
    replies = iter(answers)

    def waiting(*_: Any) -> Waiting:
        return list(next(replies)[0]), False

    with patch.object(Multipass, "_count_waiting", waiting):
        yield


def counts(context: Context, scene: str, edge: int) -> dict[str, Any]:
    """Passes of kernels of the loop, and those whose own query says another number than the count pass before; and by
    case the passes of kernels and count passes."""
    answers: list[Waiting] = []
    with timed.Releasing() as held:
        renderer = held.own(renderer_of(context, scene))
        with recording(answers):
            picture = renderer.render((edge, edge), spp=1, stats=True)
        served = [(each.step, each.fragments) for each in picture.stats.passes if each.step in LOOP]
        told = [[rays for rays in counted if rays] for counted, _ in answers if any(counted)]
        other = sum(own not in counted for (_, own), counted in zip(served, told, strict=False))
        other += abs(len(served) - len(told))
        drawn = {}
        for name, (_, settings) in CASES.items():
            stats = held.own(renderer_of(context, scene, **settings)).render((edge, edge), spp=1).stats
            drawn[name] = [stats.kernel_passes, 0 if name == WITHOUT else stats.count_passes]
    return {"passes": len(served), "other": other, "drawn": drawn}


# Whether what the count passes said is replaying, and settings.
CASES: dict[str, tuple[bool, dict[str, Any]]] = {
    BEFORE: (False, {}),
    WITHOUT: (True, {}),
    OWN_PASS: (False, {"policy": "sweep"}),
}


@contextmanager
def cases(context: Context, scene: str, edge: int) -> Iterator[dict[str, timed.Case]]:
    """Each case, ready to be rendered again."""

    def case(renderer: raystream.Renderer, replays: list[Waiting]) -> None:
        if not replays:
            renderer.render((edge, edge), spp=1)
            return
        with replaying(replays):
            renderer.render((edge, edge), spp=1)

    with timed.Releasing() as held:
        renderings: dict[str, timed.Case] = {}
        for name, (replays, settings) in CASES.items():
            renderer, said = held.own(renderer_of(context, scene, **settings)), list[Waiting]()
            if replays:
                with recording(said):
                    renderer.render((edge, edge), spp=1)
            renderings[name] = partial(case, renderer, said)
        yield renderings
