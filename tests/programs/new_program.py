"""A picture program that only this file knows, and what the house then knows of it, printed as JSON.

Run by `test_new_program.py` in a process of its own: tables are made once, when they are imported.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from raystream.kernels import paths
from raystream.kernels.records import FILM, LIGHT_CONTEXT, MEDIA, PATH, PIXEL, RADIANCE, SCENE_INTERACTION
from raystream.programs.first_hits import extra_states, first_hit_states, first_hit_streams
from raystream.programs.registry import PICTURES, PictureProgram, register
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.stream.declare.program import DONE, Call, Program, State

NAME, HELP, CAPTION = "emission", "the lights that are seen", "eye rays, and what shines where they arrive"
KEY = next(digit for digit in "123456789" if all(digit != program.key for program in PICTURES.values()))
SIZE = (16, 12)


def emission(traversal: TraversalStates = FLAT, first_hits: str = "rays") -> Program:
    """Pixels and their film, to which samples of emission are added."""
    begin = State("begin", paths.BEGIN, {"ray": Call("setup", then="arrive"), "done": DONE})
    turn = ("->arrive", "arrive", "finish", "begin")
    return Program(
        NAME,
        streams={
            **{"pixel": PIXEL, "film": FILM, **first_hit_streams(first_hits), **traversal.streams},
            **{"path": PATH, "radiance": RADIANCE, "interaction": SCENE_INTERACTION, "media": MEDIA},
            "context": LIGHT_CONTEXT,
        },
        inputs=("pixel", "film", *first_hit_streams(first_hits)),
        results=("film",),
        states=(
            *first_hit_states(first_hits, begin),
            *traversal.states,
            State("arrive", paths.ARRIVE, {"surface": "finish", "end": "finish"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=(*extra_states(first_hits), *turn),
        groups={"ray": (("->arrive", "arrive"),), "surface": ((*extra_states(first_hits), *turn),)},
        resumes=True,
        stacked=("context",),  # of the surface before, which the first one has not
    )


def said(*words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    from raystream.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def command_line(folder: Path) -> dict[str, Any]:
    """Help, diagram, pictures and refusals."""
    render = ("render", "cornell", "--program", NAME, "--size", "8x8", "--spp", "1", "-o", str(folder / "a.png"))
    return {
        "help": " ".join(said("render", "--help", "all")[1].split()),
        "graph": said("graph", NAME, "-o", "-"),
        "rendered": said(*render, "--strategy", "bsdf", "--seed", "3"),
        "denoised": said(*render, "--denoise", "shader"),
    }


def pictures() -> dict[str, Any]:
    """Of both machines, and of the path tracer that goes no further; with what is known of how they were made."""
    from raystream import Renderer

    made = {}
    settings = {"program": NAME, "machine": "singlepass"}, {"program": NAME}, {"program": "path", "depth": 0}
    for name, given in zip(("single", "multi", "path"), settings, strict=True):
        renderer = Renderer("cornell", **given)
        made[name] = renderer.render(SIZE, spp=2)
        renderer.release()
    return {
        "bits": {name: picture.linear.tobytes().hex() for name, picture in made.items()},
        "metadata": made["single"].metadata,
        "depends": made["single"].depends,
    }


def viewed() -> dict[str, Any]:
    """Keys, the page of a browser, and the inspector."""
    from raystream.remote.canvas import page_files
    from raystream.viewport.canvas import CanvasView
    from raystream.viewport.debug_views.inspector import Inspector
    from raystream.viewport.keymap import BY_NAME, Keymap

    view = CanvasView("cornell", SIZE, program="cast")
    view.wait()
    view.handle({"event_type": "key_down", "key": KEY, "modifiers": []})
    renderer = view.view.renderer
    assert renderer is not None
    page = page_files(view.view.keymap, view.view.actions.handlers, "cornell")["index.html"].body.decode()
    inspector = Inspector(renderer, SIZE)
    inspector.begin(renderer.camera)
    found = {
        "action": [BY_NAME[f"program.{NAME}"].help, list(BY_NAME[f"program.{NAME}"].keys)],
        "keys": Keymap().markdown_table(),
        "chosen": renderer.settings.program,
        "page": page,
        "channels": list(inspector.channels),
    }
    inspector.release()
    view.release()
    return found


if __name__ == "__main__":
    register(PictureProgram(NAME, emission, HELP, CAPTION, key=KEY))
    told = {"line": command_line(Path(sys.argv[1])), "pictures": pictures(), "view": viewed()}
    print(json.dumps(told))
