"""Motion blur: seconds of a sample while the shutter is open, beside the same picture of things that stand still.

Balls orbit each other and the camera goes around them: instances, whose maps are interpolated where a ray enters them;
the same as deforming triangles of a flat structure, whose corners are; and a camera that moves alone. As a long
exposure, of half of the orbit, too: swept boxes of deforming triangles would all overlap.

Then boxes over instances that follow the ray's time, beside boxes over all of their way, for the pair, for a box that
falls on another one, and for many balls that fly.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import raystream
from benchmarks.common import Options, Result, Table, Timing, facts, interleave, say
from benchmarks.scenes import shared
from raystream.accel.two_level import top
from raystream.renderer.renderer import Renderer
from raystream.scene.animation import turntable
from raystream.scene.builtin import balls
from raystream.scene.builtin.parts.shapes import sphere
from raystream.scene.camera import Camera
from raystream.scene.exposure import exposed, key_count, moving_camera
from raystream.scene.hierarchy import compose
from raystream.scene.mesh import Instance
from raystream.scene.scene import Scene

ABOUT = "motion blur: seconds of a sample with the shutter open, beside one of a still"

RUNS, SIZE = 9, 256
OPENS, CLOSES = 1.0, 1.2  # seconds: a twentieth of the orbit
LONG = 2.0  # seconds: half of the orbit
TURN = 0.02  # of the camera
STRUCTURES = ("two-level-bvh", "bvh")
FLYING, WAYS = 400, (0.3, 3.0)  # balls of radius 0.4, and standard deviations of their ways along each axis
PAIRS, COUNTED = 15, 64  # runs, and the size of pictures whose steps are counted


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
    rows = []
    data: dict[str, Any] = {"facts": facts(device), "runs": runs, "size": size, "cases": {}, "missing": []}
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
    data["boxes"], boxes = _boxes(device, 1 if options.quick else PAIRS, size, data["missing"])
    note = f"Balls under a sky, path traced, {size} x {size}, one sample of every pixel: medians of {runs}, in turn."
    columns = ("structure", "shutter", "keys", "ms", "CPU ms", "CPU, of a still")
    return Result(data, [Table("motion blur", columns, rows, note), boxes])


def _boxes(device: Any, pairs: int, size: int, missing: list[str]) -> tuple[dict[str, Any], Table]:
    """Boxes over instances by the ray's time and over all of the exposure, in turn."""
    falling = shared() / "scenes" / "models" / "BoxAnimated.glb"
    scenes = {f"{FLYING} balls fly, {way:g}": _flying(way) for way in WAYS}
    scenes |= {"two of ten balls orbit": exposed(balls.build(), OPENS, CLOSES)}
    scenes |= {"the same, half of it": exposed(balls.build(), OPENS, OPENS + LONG)}
    if falling.is_file():
        scenes["BoxAnimated"] = exposed(raystream.load(falling), 0.0, 2.0)
    else:
        missing.append(f"BoxAnimated: not found in {falling.parent}")
    data, rows = {}, []
    for name, scene in scenes.items():
        say(f"blur: boxes, {name}")
        common: dict[str, Any] = {"accel": "two-level-bvh", "program": "path", "depth": 2, "environment": "sky"}
        held: dict[str, list[Renderer]] = {}
        for way in ("by time", "swept"):
            with patch.object(top, "fitting_segments", lambda *_: 0) if way == "swept" else nullcontext():
                machines: tuple[dict[str, Any], ...] = ({}, {"machine": "multipass", "fuse": "none"})
                held[way] = [Renderer(scene, device=device, **common, **each) for each in machines]
        steps = {}
        for way, (_, counted) in held.items():
            kernels = counted.render((COUNTED, COUNTED), spp=1, stats=True).stats.kernels
            calls = {total.kernel: total.calls for total in kernels.values()}
            rays = calls["top_traversal_setup"]
            steps[way] = [calls[each] / rays for each in ("top_traversal_step", "object_traversal_setup")]
        cases = {way: partial(whole.render, (size, size), spp=1) for way, (whole, _) in held.items()}
        pictures = [case().linear for case in cases.values()]
        timings = interleave(cases, pairs)
        ratios = np.divide(timings["by time"].cpu, timings["swept"].cpu)
        quarters = np.percentile(ratios, (25, 50, 75)).tolist()
        data[name] = {
            "keys": key_count(scene),
            "same_bits": bool(np.array_equal(pictures[0], pictures[1])),
            "steps_and_instances_per_ray": steps,
            "timings": {way: timing.to_json() for way, timing in timings.items()},
            "cpu_ratio_quartiles": quarters,
        }
        rows.append((name, key_count(scene), *steps["swept"], *steps["by time"], quarters[1], quarters[0], quarters[2]))
        for pair in held.values():
            for each in pair:
                each.release()
    columns: tuple[str, ...] = ("scene", "keys", "steps, swept", "instances", "steps, by time", "instances")
    columns += ("CPU, of swept", "lower quartile", "upper")
    note = f"Steps through the top level and instances entered, per ray; CPU time of {pairs} pairs, {size} x {size}."
    return data, Table("boxes over instances", columns, rows, note)


def _flying(way: float) -> Scene:
    """Balls that fly through each other."""
    rng = np.random.default_rng(1)
    size = np.full((FLYING, 3), 0.4)
    motion = np.repeat(compose(rng.uniform(-8, 8, (FLYING, 3)), rng.normal(size=(FLYING, 4)), size)[:, None], 2, axis=1)
    motion[:, 1, :3, 3] += way * rng.normal(size=(FLYING, 3))
    flying = [Instance(0, keys[0], motion=keys) for keys in motion]
    return Scene([sphere(24, 24).mesh("ball")], flying, cameras=[Camera((0, 0, 26), (0, 0, 0), fov=45)])


def _turning(scene: Scene) -> Scene:
    camera, bounds = scene.camera(), scene.bounds()
    keys = [turntable(camera, bounds, share) for share in (0.0, TURN / 2, TURN)]
    return replace(scene, cameras=[moving_camera(keys)])
