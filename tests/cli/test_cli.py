"""The command: what reaches the library, exit codes, and the one line of every error."""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path

import pytest
from calls import error_line, process, run

from raystream.base.errors import DeviceError, ViewerError
from raystream.cli.main import _parse
from raystream.options.table import OPTIONS, keywords
from raystream.options.values import PolicyChoice, Unroll
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene


class Counted:
    """Stands for `raystream.stream.machines.counters.Stats`."""

    kernel_passes = 3
    facts: dict[str, object] = {}  # noqa: RUF012

    def to_json(self):
        """As the real one's."""
        return {"kernel_passes": 3}


class FakeRenderer:
    """Keeps what it was asked for, and saves a file that says so."""

    made: list[FakeRenderer] = []  # noqa: RUF012 - emptied by the fixture
    fault: BaseException | None = None
    notes: tuple[str, ...] = ()
    progressive = True
    # A scene that is lit, but not by lights of its own alone, is not rendered before its picture.
    listed = types.SimpleNamespace(lit=True)
    prepared = types.SimpleNamespace(
        lighting=types.SimpleNamespace(only_own_lights=False, listed=listed),
        surfaces=types.SimpleNamespace(alpha=False),
    )

    def __init__(self, scene, **options):
        self.report = options.pop("progress", None)
        self.scene, self.options = scene, options
        self.camera = scene.camera()
        FakeRenderer.made.append(self)

    def render(self, **options):
        """A picture of its own."""
        self.render_options = options
        if FakeRenderer.fault is not None:
            raise FakeRenderer.fault
        options["progress"](0.5, "half")
        self.stats = Counted()
        return self

    def checkpoint(self, path):
        """None is kept."""

    def remarks(self, exposure):
        """There are none."""
        return []

    def save(self, path, exposure, tonemap):
        """Write the file."""
        Path(path).write_text(f"picture {exposure} {tonemap}")

    def info(self):
        """As the real one's."""
        return {"memory_bytes": {"grid": 2048, "vertices": 3 << 20}, "grid": {"resolution": [4, 5, 6], "average": 1.25}}


@pytest.fixture
def library(monkeypatch, tmp_path):
    """The library replaced by one that only records; the current folder is a fresh one."""
    scene = Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], name="one")
    scene.cameras = [Camera((0, 0, 3), (0, 0, 0), name="front")]
    module = types.ModuleType("raystream.renderer.renderer")
    module.Renderer = FakeRenderer
    monkeypatch.setitem(sys.modules, "raystream.renderer.renderer", module)
    monkeypatch.setattr("raystream.formats.named.load", lambda name, **options: scene)
    monkeypatch.setattr(FakeRenderer, "made", [])
    monkeypatch.setattr(FakeRenderer, "fault", None)
    monkeypatch.chdir(tmp_path)
    return types.SimpleNamespace(scene=scene, folder=tmp_path)


# What reaches the library

DEFAULTS = {name: OPTIONS[name].value.default for name in keywords("renderer")}
RENDER_DEFAULTS = {name: OPTIONS[name].value.default for name in keywords("render")}


def test_every_option_reaches_the_renderer(library):
    words = ["--size", "64x32", "--spp", "4", "--program", "cast", "--machine", "singlepass", "--fuse", "none"]
    words += ["--policy", "threshold=0.3,all", "--unroll", "4,2", "--mask", "kill", "--grid", "32", "--fov", "60"]
    words += ["--intersection", "moller-trumbore", "--layers", "depth,triangle", "--stats", "s.json"]
    words += ["--tonemap", "agx", "--exposure", "-1.5"]
    words += ["--aperture", "0.5", "--focus", "3", "--pixel-filter", "tent", "--environment", "1,2,3"]
    words += ["--environment-rotation", "-90", "--light", "lamp=-1,2,3", "--light", "a=b=0,0,1"]
    words += ["--device", "1", "--barrier", "off", "--memory", "texture", "--quiet", "--debug"]
    # A negative number first must not be taken for an option.
    run("render", "--camera", "-1,2,3 0,0,0", "one", *words, "-o", "a.npz")
    (made,) = FakeRenderer.made
    assert made.options == {
        **DEFAULTS,
        "program": "cast",
        "machine": "singlepass",
        "policy": PolicyChoice("threshold", 0.3, "all"),
        "unroll": Unroll((4, 2)),
        "fuse": "none",
        "mask": "kill",
        "grid": 32,
        "intersection": "moller-trumbore",
        "camera": "-1,2,3 0,0,0",
        "fov": 60.0,
        "aperture": 0.5,
        "focus": 3.0,
        "pixel_filter": "tent",
        "environment": (1.0, 2.0, 3.0),
        "environment_rotation": -90.0,
        "light": (("lamp", (-1.0, 2.0, 3.0)), ("a=b", (0.0, 0.0, 1.0))),
        "device": 1,
        "barrier": "off",
        "memory": "texture",
    }
    made.render_options.pop("progress")
    given = {"size": (64, 32), "spp": 4, "layers": ("depth", "triangle"), "stats": True, "state": None}
    assert made.render_options == {**RENDER_DEFAULTS, **given}
    assert json.loads(Path("s.json").read_text())["kernel_passes"] == 3
    assert set(json.loads(Path("s.json").read_text())["wall_seconds"]) == {"load", "build", "render"}
    assert sorted(os.listdir()) == ["a.npz", "s.json"]
    assert Path("a.npz").read_text() == "picture -1.5 agx"


def test_without_arguments_renders_a_first_picture(library, capsys):
    run()
    out, err = capsys.readouterr()
    assert out.startswith(f"{library.folder / 'cornell.png'}: 512 x 512")
    assert (library.folder / "cornell.png").exists()
    assert "--help" in err


def test_notes_of_the_scene(library, capsys):
    library.scene.warnings.append("2 triangles have \x1b[31mno area")
    run("render", "one", "-o", "a.png")
    assert capsys.readouterr().err == "raystream: note: 2 triangles have \\x1b[31mno area\n"
    run("render", "one", "-o", "a.png", "--quiet")
    assert capsys.readouterr() == ("", "")


def test_info_without_opengl_still_tells_of_the_scene(library, capsys, monkeypatch):
    def refuse(*_, **__):
        raise DeviceError("OpenGL", "none here")

    monkeypatch.setattr(FakeRenderer, "__init__", refuse)
    run("info", "one", "--json")
    data = json.loads(capsys.readouterr().out)
    assert data["gpu"] is None and any("none here" in warning for warning in data["warnings"])


# What is refused

USAGE = [
    (("rendr", "x"), "command 'rendr': unknown (did you mean 'render'?)"),
    (("frobnicate",), "raystream render frobnicate -o picture.png"),
    (
        ("x.y.z",),
        "command 'x.y.z': unknown (commands: render, view, info, thumbnail, dataset, diff, devices, doctor, graph, "
        "check-shaders)",
    ),
    (("--quiet",), "option '--quiet': expected a command before any option"),
    (("render",), "render: the scene is missing"),
    (("render", "one"), "--output: is missing"),
    (("render", "one", "two", "-o", "a.png"), "a.png: one file cannot hold the pictures of 2 scenes"),
    (("view", "one", "two"), "'two': one argument too many"),
    (("render", "one", "--machin", "singlepass"), "option '--machin': unknown (did you mean '--machine'?)"),
    (("render", "one", "--xyzzy"), "option '--xyzzy': unknown (see raystream render --help)"),
    (("render", "one", "--size"), "--size: the value is missing; expected WIDTHxHEIGHT"),
    (("render", "one", "--quiet=yes"), "--quiet: takes no value"),
    (
        ("render", "one", "--fuse", "rya", "-o", "a.png"),
        "--fuse 'rya': expected auto, none, ray or surface (did you mean 'ray'?)",
    ),
    (("render", "one", "-o", "nowhere/a.png"), "nowhere/a.png: there is no folder"),
    (("render", "one", "-o", "a.png", "--stats", "nowhere/s.json"), "nowhere/s.json: there is no folder"),
    (("info",), "info: the scene is missing"),
    (("devices", "one"), "'one': one argument too many"),
]


@pytest.mark.parametrize(("arguments", "line"), USAGE, ids=lambda v: " ".join(v)[:40] if isinstance(v, tuple) else "")
def test_wrong_usage_is_told_in_one_line_before_any_work(library, capsys, arguments, line):
    run(*arguments, code=2)
    assert line in error_line(capsys)
    assert not FakeRenderer.made and not os.listdir()


@pytest.mark.parametrize(
    ("fault", "code", "line"),
    [
        (ViewerError("one: face 3", "names\nvertex 9 of 3", "the file is damaged"), 2, "names vertex 9 of 3 (the file"),
        (MemoryError(), 2, "not enough memory"),
        (OSError(28, "No space left on device", "a.png"), 2, "a.png: No space left on device"),
        (OSError(28, "No space left"), 2, "No space left"),
        (OSError("odd"), 1, "OSError: odd (this is a bug"),
        (
            KeyError("x"),
            1,
            "KeyError: 'x' (this is a bug in raystream; --debug shows where, `raystream doctor` what the driver does)",
        ),
        (RecursionError("deep\nmore"), 1, "RecursionError: deep more (this is a bug"),
        (AssertionError(), 1, "AssertionError (this is a bug"),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, BaseException) else "",
)
def test_faults_while_rendering(library, capsys, fault, code, line):
    FakeRenderer.fault = fault
    run("render", "one", "-o", "a.png", code=code)
    assert line in error_line(capsys)
    assert not os.listdir()


# With the real renderer


def test_a_file_goes_before_a_built_in_scene(tmp_path):
    (tmp_path / "cornell").write_text("no scene at all")
    done = process("render", "cornell", "-o", "a.png", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.parametrize("value", ["-1", "-5e3", "inf", "-inf", "nan", "0", "1e999"])
def test_a_wrong_number_is_the_value_of_an_option_that_may_stand_alone(value: str) -> None:
    with pytest.raises(ViewerError, match=f"ortho='{value}'"):
        _parse("render", ["cornell", "-o", "a.png", "--ortho", value])


def test_statistics_replace_the_old_file_whole_or_not_at_all(library, capsys, monkeypatch):
    Path("s.json").write_text("old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    run("render", "one", "-o", "a.png", "--stats", "s.json", code=2)
    assert "s.json: cannot be written: No space left" in error_line(capsys)
    assert Path("s.json").read_text() == "old"
    assert sorted(os.listdir()) == ["a.png", "s.json"]
