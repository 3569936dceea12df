"""First hits rasterised and by rays: time, and the share of pixels with different triangles."""

from __future__ import annotations

from typing import Any

import raystream
from benchmarks.common import Options, Result, Table, facts, interleave, say
from benchmarks.scenes import found
from benchmarks.stream.machines import Setting, make, whole_run
from raystream.cameras.lens import lens_uniforms
from raystream.kernels.records import HIT
from raystream.renderer.device.first_hits import RasterizedHits, differing_share
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.stream import Stream

ABOUT = "first hits: triangles drawn with a depth buffer, against rays"
SCENES = ("cornell", "teapotahedron", "bunny", "dragon", "forest_flat")
SIZE, RUNS = 512, 7


def run(options: Options) -> Result:
    """Both ways over every scene, from pixels' centres."""
    device = options.open()
    edge, runs = (64, 1) if options.quick else (SIZE, RUNS)
    views, missing = found(SCENES[:2] if options.quick else SCENES)
    rows: list[list[Any]] = []
    data: dict[str, Any] = {
        "facts": facts(device),
        "missing": missing,
        "size": edge,
        "scenes": {},
    }
    for view in views:
        say(view.name)
        renderer = Renderer(raystream.load(view.source), camera=view.camera, program="cast", device=device)
        with device.current():
            traversal = make(renderer, Setting("singlepass"), (edge, edge))
            raster = RasterizedHits(device, renderer.prepared, renderer.gpu_scene.resources, (edge, edge))
            uniforms = {
                **lens_uniforms(renderer.camera, (edge, edge), "point"),
                **renderer.settings.sample_uniforms(
                    renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared
                ),
            }
            stream = Stream(device, HIT, (edge, edge))
        number = 0

        def drawn() -> None:
            nonlocal number
            number += 1  # another sample: at pixel centres, of the same rays
            with device.current():
                raster.set(uniforms, (edge, edge))  # noqa: B023
                raster.copy_hits(stream, slice(0, edge), slice(0, edge), number, renderer.camera.origin)  # noqa: B023
                device.context.finish()

        timings = interleave({"raster": drawn, "rays": whole_run(traversal)}, runs)
        with device.current():
            other = differing_share(stream.read().ravel(), traversal.read("hit").ravel())
            hit = float((traversal.read("hit")["triangle"] >= 0).mean())
        drawing, casting = timings["raster"], timings["rays"]
        found_ = {name: timing.to_json() for name, timing in timings.items()}
        data["scenes"][view.name] = {**found_, "triangles": raster.triangles, "other_triangle": other, "hit": hit}
        ratio = drawing.cpu_ratio(casting)
        rows.append(
            [view.name, raster.triangles, *(found_[way][k] for way in found_ for k in ("ms", "cpu_ms")), ratio, other]
        )
        with device.current():
            raster.release()
            stream.release()
            traversal.release()
        renderer.release()
    table = Table(
        f"First hits of {edge} x {edge} pixels",
        ("scene", "triangles", "raster ms", "CPU ms", "rays ms", "CPU ms", "raster / rays, CPU", "other triangle"),
        rows,
        "rays: singlepass. other triangle: the share of pixels at which both ways see different ones.",
    )
    return Result(data, [table])
