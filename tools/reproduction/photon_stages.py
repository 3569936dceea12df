"""The time that a picture with a photon map takes, by the stages of table 6.1 in T. J. Purcell, *Ray Tracing on a
Stream Processor* (2004)."""

from __future__ import annotations

from raystream.base.errors import ViewerError
from raystream.renderer.device.tile_job import PICTURE
from raystream.renderer.renderer import Renderer

STAGES = ("trace photons", "build grid", "trace rays", "radiance estimate")
NOTHING = 1e-6  # scene units: a search radius within which no photon lies


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
    with renderer.sampler.timed() as times:
        renderer.render(size, spp=1)
    return times
