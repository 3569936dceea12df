"""Prints the durations of a first picture's parts in a new process, as JSON: seconds by part.

    python phases.py SCENE CAMERA FOV WIDTH HEIGHT [PROGRAM]

The parts: ``import`` of the renderer; ``load`` of the scene; ``device``, opening OpenGL; ``build`` of the structure and
the tables; ``first run``, of one sample, with upload and the driver's compilation; ``next run``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main(scene: str, camera: str, fov: str, width: str, height: str, program: str = "cast") -> None:
    """Measure and print."""
    times: dict[str, float] = {}
    at = time.perf_counter()

    def done(part: str) -> None:
        nonlocal at
        now = time.perf_counter()
        times[part], at = now - at, now

    import raystream
    from raystream.renderer.renderer import Renderer
    from raystream.stream.gl.device import shared_device

    done("import")
    loaded = raystream.load(scene)
    done("load")
    device = shared_device()
    done("device")
    renderer = Renderer(loaded, camera=camera, fov=float(fov), device=device, program=program)
    done("build")
    renderer.render((int(width), int(height)), spp=1)
    done("first run")
    renderer.render((int(width), int(height)), spp=1)
    done("next run")
    print(json.dumps(times))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "editable"))
    main(*sys.argv[1:])
