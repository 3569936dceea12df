"""The simulated machines of D 5.2 and P2 3.2, and the one wished for in D 5.4.2: each runs its kernels call by call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer
from reproduction.simulators.cache import Cache, play_all
from reproduction.simulators.cost import cost
from reproduction.simulators.machines import OTHER_PASSES, TWENTY, stream_buffer, workload
from reproduction.simulators.rays import places
from reproduction.simulators.references import STREAM, STRUCTURES, Layout, Traffic, mimd_references, simd_references
from reproduction.simulators.schedule import Simulation
from reproduction.simulators.stream_buffer import buffer_references
from reproduction.simulators.walk import State

from .. import measured
from ..context import Context
from ..published.chapter5 import TABLE_5_1, VIEWS
from ..report import LONGEST, OWN, Check, Figure, Parts, beside, section, tabled, unprinted
from ..shown import webp

MACHINES = ("SIMD", "MIMD", "stream buffer")
EDGE, QUICK_EDGE = 256, 128  # calls are simulated one by one
SKY = 0.93  # of a pixel that nothing hits


@section("machines", paper="D 5.2, P2 3.2, D 5.4.2", title="The simulated machines: their pictures and words", order=1)
def make(context: Context) -> Parts:
    """Every view by every machine: picture, passes, words by type."""
    edge = QUICK_EDGE if context.quick else EDGE
    rows: list[tuple[Any, ...]] = []
    checks: list[Check] = []
    figures: list[Figure] = []
    for name in (yield from measured.there(context)):
        found = context.keep(("machines", name, edge), lambda name=name: summary(simulated(context, name, edge)))
        rows += [(name, machine, *_row(name, machine, found[machine])) for machine in MACHINES]
        checks += _checks(name, found)
        note = f"By each of {', '.join(MACHINES)}: {'one picture' if found['same'] else 'pictures differ'}."
        figures.append(Figure(name, png=found["picture"], note=note, alt=name))
    yield tabled("what_each_machine_runs_and", rows, checks, edge=edge)
    yield from figures


def simulated(context: Context, name: str, edge: int) -> dict[str, Any]:
    """Of each machine: its picture, passes, and bytes by type."""
    view = measured.eye(context, name, edge)
    space, rays = view.space, view.rays
    buffered = stream_buffer(view.runs, view.shaded, TABLE_5_1["SIMD"])
    layout, passes, launches = Layout.of(space, len(rays)), [0, 0], [0, 0]
    found: dict[str, Any] = {}
    for machine in MACHINES:
        state = State.setup(space, rays)
        traffic = Traffic(TABLE_5_1["MIMD" if machine == "MIMD" else "SIMD"])
        if machine == "SIMD":
            trace = simd_references(space, rays, traffic, layout=layout, passes=passes, state=state)
        elif machine == "MIMD":
            trace = mimd_references(space, rays, traffic, layout=layout, state=state)
        else:
            trace = buffer_references(
                space, rays, traffic, buffered.rays, layout=layout, state=state, launches=launches
            )
        cache = Cache()
        play_all([cache], trace)
        found[machine] = {
            "picture": headlight(rays, state, space.corners, edge),
            "hits": state.triangle.copy(),
            "stream": cache.bytes_without(STREAM) / len(rays),
            "structures": cache.bytes_without(STRUCTURES) / len(rays),
            "cached": cache.ratio(),
        }
    total = sum(passes) + OTHER_PASSES
    model = cost(workload(view.runs, view.shaded, total), TABLE_5_1["SIMD"])
    found["SIMD"] |= {"passes": total, "state": model.bytes_by_type["state"] / len(rays)}
    found["MIMD"] |= {"passes": 1, "state": 0.0}
    found["stream buffer"] |= {"passes": sum(launches), "state": 0.0}
    alone = cost(workload(view.runs, view.shaded), TABLE_5_1["MIMD"], 0.0)
    found["expected"] = {
        "passes": [Simulation(view.runs).play(TWENTY).passes + OTHER_PASSES, sum(buffered.launches)],
        "bytes": [
            [each.bytes_by_type[kind] / len(rays) for kind in ("stream", "structures")]
            for each in (model, alone, buffered.cost)
        ],
    }
    found["work"] = [float(view.runs.steps.mean()), float(view.runs.tests.mean()), view.shaded]
    for machine in MACHINES:
        found[machine]["work"] = found["work"]
    found["device"] = _on_device(context, name, rays) if name == measured.BUNNY else None
    return found


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """What the report keeps: no hits but whether all machines have the same; one picture of the three."""
    first, *others = (found[machine]["hits"] for machine in MACHINES)
    device = found["device"]
    kept = {machine: {k: v for k, v in found[machine].items() if k not in ("hits", "picture")} for machine in MACHINES}
    return {
        **kept,
        "expected": found["expected"],
        "same": all(np.array_equal(first, each) for each in others),
        "device": None if device is None else float((np.asarray(device) == first).mean()),
        "picture": webp(found[MACHINES[0]]["picture"]),
    }


def headlight(rays: NDArray, state: State, corners: NDArray, edge: int) -> NDArray[np.uint8]:
    """(edge, edge, 3) of a walk's hits, lit from the eye."""
    light, hit = np.full(len(rays), SKY), state.triangle >= 0
    _, normal = places(rays[hit], state.distance[hit], state.triangle[hit], corners)
    light[hit] = 0.08 + 0.8 * np.abs((rays["direction"][hit] * normal).sum(axis=1))
    grey = np.rint(255 * light).astype(np.uint8).reshape(edge, edge)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _on_device(context: Context, name: str, rays: NDArray) -> NDArray[np.int32]:
    """Triangles that the multipass machine of this device finds."""
    view = measured.SOURCES[name]
    settings: dict[str, Any] = {"accel": "grid", "grid": view.grid, "intersection": "moller-trumbore"}
    renderer = Renderer(view.load(context), device=context.device, program="cast", machine="multipass", **settings)
    found = renderer.trace(rays["origin"], rays["direction"]).triangle
    renderer.release()
    return np.asarray(found, np.int32)


def _row(name: str, machine: str, found: dict[str, Any]) -> tuple[Any, ...]:
    work = [f"{each:.2f}" for each in found["work"]]
    passes = beside(VIEWS[name].passes, found["passes"], LONGEST) if machine == "SIMD" else unprinted(found["passes"])
    moved = (f"{found[kind]:.0f}" for kind in ("stream", "structures", "state"))
    return *work, passes, *moved, f"{100 * found['cached']:.0f} %"


def _checks(name: str, found: dict[str, Any]) -> Iterator[Check]:
    same = found["same"]
    what, all_ = f"{name}: the three machines see the same triangles", "all" if same else "not all"
    yield Check(OWN, what, "all pixels", all_, same, "a simulated machine loses or invents hits")
    if found["device"] is not None:
        share = found["device"]
        # The simulated walk is in float32, operation by operation: a compiler that fuses products may part from it.
        what = f"{name}: the multipass machine on this device sees them too"
        bound = "to 0.1 %: fused products round once"
        yield Check(OWN, what, "all pixels", f"{100 * share:.2f} %", share > 0.999, bound=bound)
    passes, launches = found["SIMD"]["passes"], found["stream buffer"]["passes"]
    bytes_ = [[found[machine][kind] for kind in ("stream", "structures")] for machine in MACHINES]
    expected = found["expected"]
    agrees = [passes, launches] == expected["passes"] and np.allclose(bytes_, expected["bytes"], rtol=1e-9)
    what = f"{name}: what the calls come to is what the cost model and the lengths of runs give"
    printed, own = ("{:,} passes, {:,} launches".format(*each) for each in (expected["passes"], (passes, launches)))
    # Sums of whole words, divided by the rays.
    yield Check(OWN, what, printed, own, agrees, bound="and the bytes of streams and structures above, to the byte")
