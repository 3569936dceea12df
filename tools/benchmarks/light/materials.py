"""glTF's layered materials: seconds per sample, compile time, and texture memory of feature-rich models.

Each is shown as by `raystream render`, path traced with the defaults, under the default sky without lights. Compile
time is the first run in a new process minus the next one, with the driver's cache empty, and filled.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import raystream
from benchmarks.common import Options, Result, Table, facts, interleave, say
from benchmarks.processes import launch
from benchmarks.scenes import shared
from raystream.base.errors import ViewerError
from raystream.renderer.renderer import Renderer
from raystream.scene.scene import Scene

ABOUT = "glTF's materials: seconds of a sample, of compiling, and texture memory"

MODELS = ("DamagedHelmet", "FlightHelmet_512", "ToyCar", "TransmissionTest")
QUICK = ("DamagedHelmet",)
MACHINES = ("singlepass", "multipass")
RUNS, SIZE = 5, 512


def run(options: Options) -> Result:
    """Measure everything."""
    device = options.open()
    size = 32 if options.quick else SIZE
    data: dict[str, Any] = {
        "facts": facts(device),
        "runs": 1 if options.quick else RUNS,
        "size": size,
        "missing": [],
        "models": {},
    }
    for name in QUICK if options.quick else MODELS:
        path = shared() / "scenes" / "models" / f"{name}.glb"
        if not path.is_file():
            data["missing"].append(f"{name}: not found in {path.parent} (set RAYSTREAM_SHARED to the scene data)")
            continue
        say(name)
        try:
            scene = raystream.load(str(path))
        except ViewerError as error:
            data["missing"].append(f"{name}: {error}")
            continue
        data["models"][name] = {
            "compile": _compiling(path, scene, size, options),
            **_memory(scene),
            **_samples(scene, size, data["runs"], device),
        }
    return Result(data, _tables(data))


# -- measurements --------------------------------------------------------------------------------------------------


def _compiling(path: Path, scene: Scene, size: int, options: Options) -> dict[str, dict[str, float]]:
    """The parts of a first picture in a new process, see `phases`, with the driver's cache empty (cold) and filled;
    quick: once, with the user's caches as they are."""
    camera = scene.camera()
    arguments = [str(path), camera.text(), str(camera.fov), str(size), str(size), "path"]
    if options.quick:
        return {"warm": launch.phases(arguments, dict(os.environ))}
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        environment = launch.caches(Path(folder) / "caches")
        return {caches: launch.phases(arguments, environment) for caches in ("cold", "warm")}


def _memory(scene: Scene) -> dict[str, Any]:
    """Bytes of the file's images, and of texels on the device with mip levels; materials and lobes."""
    images = {id(texture.image): texture.image.texels.nbytes for texture in scene.textures}
    return {
        "triangles": scene.triangle_count,
        "materials": len(scene.materials),
        "textures": len(scene.textures),
        "image_bytes": sum(images.values()),
        "texel_bytes": Renderer(scene).info()["gpu memory"].get("texels", 0),
    }


def _samples(scene: Scene, size: int, runs: int, device: Any) -> dict[str, Any]:
    """Milliseconds of a whole call with one sample of every pixel, by machine, in turn."""
    renderers = {machine: Renderer(scene, machine=machine, device=device) for machine in MACHINES}
    cases = {machine: partial(renderer.render, (size, size), spp=1) for machine, renderer in renderers.items()}
    return {"samples": {machine: timing.to_json() for machine, timing in interleave(cases, runs).items()}}


# -- output --------------------------------------------------------------------------------------------------------


def _compile_seconds(parts: dict[str, float]) -> float:
    return parts["first run"] - parts["next run"]


def _tables(data: dict[str, Any]) -> list[Table]:
    rows = []
    for name, row in data["models"].items():
        seconds = [row["samples"][machine][key] / 1e3 for machine in MACHINES for key in ("ms", "cpu_ms")]
        compiled = [_compile_seconds(row["compile"][c]) if c in row["compile"] else None for c in ("cold", "warm")]
        memory = [row["image_bytes"] / 2**20, row["texel_bytes"] / 2**20]
        rows.append((name, row["triangles"], row["materials"], row["textures"], *seconds, *compiled, *memory))
    columns: tuple[str, ...] = ("model", "triangles", "materials", "textures")
    columns += tuple(f"{machine}{unit}" for machine in MACHINES for unit in (" s", " CPU s"))
    columns += ("compile cold s", "warm", "images MiB", "texels MiB")
    note = (
        f"Path traced, {data['size']} x {data['size']}, a sample of every pixel: medians of {data['runs']}. Compiling: "
        "first run less next run in a new process (multipass), the driver's cache empty (cold) or filled."
    )
    return [Table("glTF's materials", columns, rows, note)]
