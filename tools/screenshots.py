"""The pages' pictures of the window and of the examples: ``python tools/screenshots.py [NAME ...] [--out DIR]``.

``window.png``: the built-in teapotahedron, path traced under its lamp. ``panels.png``: a box with its panels, its lamp
selected. ``inspector.png``: a frame half way through its passes and the boxes that one ray visits. ``published.png``:
such a frame of the machine of 2004. ``photons.png``: the photon map of a box as points. ``examples.jpg``: every
example, run in a process of its own, in two rows. Taken on an Xvfb of their own, so that nothing of the desktop is in
them. On the processor alone this takes some minutes.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # the checkout goes before an installed package
    sys.path.insert(0, str(Path(__file__).resolve().parent / "editable"))

from benchmarks.common import ROOT, in_one_line, say
from benchmarks.screen import screen, window

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

SIZE, TALL = (1280, 720), (1280, 940)
LARGEST = 1536 * 1024  # bytes of a picture
PICTURES = ROOT / "assets" / "pictures"


def settle(app: Any, converged: bool = False) -> None:
    """Until nothing loads, compiles or moves and the picture is complete, with ``converged`` all of its samples."""
    while (
        app.view.renderer is None
        or app.scene_loader.loading
        or app.view.compiling
        or app.debug_views.probing is not None
        or app.view.controller.moving
        or not (app.session.idle if converged else app.session.complete)
        or (app.debug_views.heat is not None and not (app.debug_views.heat_map and app.debug_views.heat_map.complete))
    ):
        app.turn()
    app.view.say("")
    for _ in range(4):  # ImGui lays out in two
        app.view.wake()
        app.turn()


def traced(app: Any) -> None:
    """The teapotahedron under its lamp, nothing over it."""
    settle(app, converged=True)


def lighting(app: Any) -> None:
    """The panels, the statistics, and the lamp's marker."""
    app.view.actions.perform("lights.next")
    app.view.actions.perform("statistics")
    samples = app.session.stop.spp
    app.session.stop_at(2 * samples, None)  # the picture is the denoiser's until its last sample
    while app.session.samples < samples:
        app.turn()
    settle(app)


def stepped(app: Any, passes: int) -> None:
    """The inspector behind so many passes of a frame."""
    settle(app)
    app.view.actions.perform("inspector.show")
    settle(app)
    for number in range(2 * passes):  # the driver compiles in the first round, so that its times are no passes' times
        if number == passes:
            app.view.actions.perform("inspector.restart")
        app.view.actions.perform("inspector.step")


def inspecting(app: Any) -> None:
    """Panels, the inspector in the middle of a frame, and a ray's voxels."""
    stepped(app, 70)
    app.view.input.cursor = (0.47 * app.view.area.size[0], 0.36 * app.view.area.size[1])
    app.view.actions.perform("probe.show")
    settle(app)


def published(app: Any) -> None:
    """The panels, and the inspector in the middle of the published machine's first sample."""
    stepped(app, 60)
    settle(app)


def mapped(app: Any) -> None:
    """The photons of the last sample over the picture, and their panel."""
    settle(app, converged=True)
    app.view.actions.perform("photons.points")
    settle(app)


def preset(name: str) -> dict[str, Any]:
    """The options of ``raystream view SCENE --preset NAME --program shadow``."""
    from raystream.cli import commands, main

    options = commands.view_options(main._parse("view", ["teapotahedron", "--preset", name, "--program", "shadow"]))
    return {option: value for option, value in options.items() if option not in ("scene", "size")}


TRACED = {"program": "path", "machine": "singlepass"}
PHOTONS = {**TRACED, "program": "photon", "photons": 1 << 17, "camera": "278,273,-800 278,273,0", "fov": 39.3}
SIZES = {"published": TALL}  # others are of `SIZE`
SHOTS: dict[str, tuple[str, dict[str, Any], Callable[[Any], None]]] = {
    "window": ("teapotahedron", TRACED, traced),
    "panels": ("cornell", TRACED, lighting),
    "inspector": ("teapotahedron", {"program": "cast"}, inspecting),
    "published": ("teapotahedron", preset("2004"), published),
    "photons": ("cornell_photons", PHOTONS, mapped),
}


def shoot(name: str, samples: int) -> Picture:
    """The window, posed."""
    import numpy as np
    from PIL import Image

    (scene, arguments, pose), (width, height) = SHOTS[name], SIZES.get(name, SIZE)
    settings = {"panels": name != "window", "samples": samples, "noise": 0.0}
    with window(scene, (width, height), options=arguments, **settings) as app:
        settle(app)
        pose(app)
        frames: list[bytes] = []
        app.view.after_draw(lambda: frames.append(app.window.read()))
        while not frames:
            app.turn()
        return Image.fromarray(np.frombuffer(frames[0], np.uint8).reshape(height, width, 3)[::-1])


def packed(picture: Picture) -> bytes:
    """A PNG of at most `LARGEST` bytes, with as many colours as that allows."""
    from PIL import Image

    for colors in (None, 256, 128, 64, 32):
        out = io.BytesIO()
        quantized = picture if colors is None else picture.quantize(colors, dither=Image.Dither.NONE)
        quantized.save(out, "PNG", optimize=True)
        if len(out.getvalue()) <= LARGEST:
            break
    return out.getvalue()


def examples(edge: int = 240, columns: int = 5, gap: int = 6) -> Picture:
    """The examples' pictures of ``edge`` pixels, in rows."""
    from PIL import Image

    scripts = sorted((ROOT / "tools" / "examples").glob("[0-9]*.py"))
    step, rows = edge + gap, -(-len(scripts) // columns)
    sheet = Image.new("RGB", (columns * step - gap, rows * step - gap), "white")
    with tempfile.TemporaryDirectory() as folder:
        for number, script in enumerate(scripts):
            say(script.name)
            environment = {**os.environ, "EXAMPLE_SIZE": str(edge)}
            subprocess.run([sys.executable, script], cwd=folder, env=environment, check=True)
            with Image.open(Path(folder, f"{script.stem}.png")) as picture:
                tile = picture.convert("RGB").resize((edge, edge))
            sheet.paste(tile, (number % columns * step, number // columns * step))
    return sheet


@in_one_line
def main(argv: Sequence[str] | None = None) -> None:
    """Take them."""
    names = (*SHOTS, "examples")
    parser = argparse.ArgumentParser(prog="screenshots.py", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all without")
    parser.add_argument("--out", type=Path, default=PICTURES, help="folder of the pictures")
    parser.add_argument("--samples", type=int, default=64, help="of a pixel, of what is path traced")
    arguments = parser.parse_args(argv)
    for name in arguments.names:
        if name not in names:
            parser.error(f"unknown picture '{name}'; there are {', '.join(names)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    with screen(TALL, own=True):
        for name in arguments.names or names:
            path = arguments.out / (f"{name}.png" if name in SHOTS else f"{name}.jpg")
            if name in SHOTS:
                path.write_bytes(packed(shoot(name, arguments.samples)))
            else:
                examples().save(path, quality=90)
            say(f"wrote {path}, {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    sys.exit(main())
