"""The time that a picture with a photon map takes, by the stages of table 6.1 in T. J. Purcell, *Ray Tracing on a
Stream Processor* (2004)."""

from __future__ import annotations

from viewer.base.errors import ViewerError
from viewer.renderer.device.tile_job import PICTURE
from viewer.renderer.renderer import Renderer

STAGES = ("trace photons", "build grid", "trace rays", "radiance estimate")


def stage_seconds(renderer: Renderer, size: tuple[int, int]) -> dict[str, float]:
    """Seconds of each of `STAGES`, of a picture of ``size`` with one sample, photons and map included.

    The picture is rendered three times: once that all be compiled; once with counters, which tell the shares of rays
    and of estimates, passes of one program; and once by the clock, where only between stages the device is waited for.
    Raises ViewerError for another program than photon, and for a machine that has both in one pass.
    """
    program = renderer.program()
    if "photons" not in program.inputs:
        raise ViewerError("stages", f"program {program.name} has no photon map", "take the program photon")
    estimates = {state.name for state in program.states if "estimate" in (*state.reads(), *state.writes())}
    renderer.render(size, spp=1)
    steps = renderer.render(size, spp=1, stats=True).stats.per_step()
    shares = {"trace rays": 0.0, "radiance estimate": 0.0}
    for name, row in steps.items():
        states = set(name.split("+"))
        if (states & estimates and states - estimates) or name == program.name:
            hint = "take the machine multipass, where they are passes of their own"
            raise ViewerError("stages", f"pass {name} has rays and estimates together", hint)
        shares["radiance estimate" if states & estimates else "trace rays"] += row["seconds"]
    with renderer.sampler.timed() as times:
        renderer.render(size, spp=1)
    picture, whole = times.pop(PICTURE), max(sum(shares.values()), 1e-9)
    return {**times, **{name: picture * share / whole for name, share in shares.items()}}
