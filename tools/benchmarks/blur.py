"""Motion blur: seconds of a sample while the shutter is open, beside the same picture of things that stand still.

Balls orbit each other and the camera goes around them: instances, whose maps are interpolated where a ray enters them;
the same as deforming triangles of a flat structure, whose corners are; and a camera that moves alone. As a long
exposure, of half of the orbit, too: swept boxes of deforming triangles would all overlap.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from viewer.renderer.renderer import Renderer
from viewer.scene.animation import turntable
from viewer.scene.builtin import balls
from viewer.scene.exposure.exposure import exposed, key_count, moving_camera
from viewer.scene.scene import Scene

from .common import Options, Result, Table, Timing, facts, interleave, say

ABOUT = "motion blur: seconds of a sample with the shutter open, beside one of a still"

RUNS, SIZE = 9, 256
OPENS, CLOSES = 1.0, 1.2  # seconds: a twentieth of the orbit
LONG = 2.0  # seconds: half of the orbit
TURN = 0.02  # of the camera
STRUCTURES = ("two-level-bvh", "bvh")


def run(options: Options) -> Result:
    """Measure every case in turn."""
    device = options.open()
    runs, size = (1, 32) if options.quick else (RUNS, SIZE)
    still = balls.build().posed(OPENS)
    scenes = {
        "still": still,
        "objects move": exposed(balls.build(), OPENS, CLOSES),
        "long exposure": exposed(balls.build(), OPENS, OPENS + LONG),
        "camera moves": _turning(still),
    }
    rows, data = [], {"facts": facts(device), "runs": runs, "size": size, "cases": {}}
    for structure in STRUCTURES:
        say(structure)
        chosen: dict[str, Any] = {"accel": structure, "program": "path", "environment": "sky", "device": device}
        renderers = {name: Renderer(scene, **chosen) for name, scene in scenes.items()}
        cases = {name: partial(each.render, (size, size), spp=1) for name, each in renderers.items()}
        timings: dict[str, Timing] = interleave(cases, runs)
        for name, timing in timings.items():
            ratio = timing.cpu_ratio(timings["still"])
            data["cases"][f"{structure}, {name}"] = {**timing.to_json(), "cpu_ratio": ratio}
            row = timing.to_json()
            rows.append((structure, name, key_count(scenes[name]), row["ms"], row["cpu_ms"], ratio))
        for each in renderers.values():
            each.release()
    note = f"Balls under a sky, path traced, {size} x {size}, one sample of every pixel: medians of {runs}, in turn."
    columns = ("structure", "shutter", "keys", "ms", "CPU ms", "CPU, of a still")
    return Result(data, [Table("motion blur", columns, rows, note)])


def _turning(scene: Scene) -> Scene:
    camera, bounds = scene.camera(), scene.bounds()
    keys = [turntable(camera, bounds, share) for share in (0.0, TURN / 2, TURN)]
    return replace(scene, cameras=[moving_camera(keys)])
