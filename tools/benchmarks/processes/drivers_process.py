"""Renders pictures by a checkout's package, and prints the CPU milliseconds of each, a line for each line of input.

    python drivers_process.py CHECKOUT

A line of input is JSON: ``name``, ``scene``, ``program``, ``size``. A name is loaded, compiled and rendered once before
it is timed. CPU time is that of a whole call of `Renderer.render`, one sample, all threads of the process.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main(checkout: str) -> None:
    """Answer until the input ends."""
    sys.path.insert(0, os.path.join(checkout, "tools", "editable"))
    from raystream.renderer.renderer import Renderer

    renderers: dict[str, Renderer] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        name, size = asked["name"], tuple(asked["size"])
        if name not in renderers:
            renderers[name] = Renderer(asked["scene"], program=asked["program"])
            renderers[name].render(size, spp=1)
        began = time.process_time()
        renderers[name].render(size, spp=1)
        print(1e3 * (time.process_time() - began), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
