"""What is refused before any work, what reaches the window and the page, and the lines and bar of progress."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.base.errors import ViewerError
from raystream.cli import commands, main, progress, rendering
from raystream.cli.presets import preset
from raystream.cli.progress import TerminalProgress
from raystream.film.tonemap import BLACK_LUMINANCE, darkness

FRAMES = ("--frames", "0-3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current one holds a picture alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.exr").touch()


def checked(*words: str) -> str:
    """The line that refuses them, or nothing."""
    try:
        rendering.check_output(main._parse("render", ["cornell", *words]))
    except ViewerError as error:
        return error.typed
    return ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "b.png"), ""),
        (("-o", "b.exr", "--layers", "depth"), ""),
        (("-o", "b.png", "--layers", "depth"), "b.png: "),
        (("-o", "f_%d.png", *FRAMES), ""),
        (("-o", "f.png", *FRAMES), "f.png: "),
        (("-o", "f_%d.png", *FRAMES, "--moment", "1"), "--moment: is for one picture, and --frames for many"),
        (("-o", "-", *FRAMES), "--output -: is for one picture, and --frames for many"),
        (("-o", "f.mp4"), "f.mp4: a movie needs --frames"),
        (("-o", "b.png", "--turntable"), "--turntable: needs --frames"),
        (("-o", "b.png", "--animation", "walk"), "--animation: needs --moment or --frames"),
        (("-o", "f_%d.png", "--animation", "walk", *FRAMES), ""),
        (("-o", "b.exr", "--resume", "auto"), ""),
        (("-o", "b.png", "--unit", "samples"), "--unit: needs --cluster"),
        (("-o", "b.png", "--mix-builds"), "--mix-builds: needs --cluster"),
        (("-o", "f_%d.png", *FRAMES, "--cluster", "local", "--unit", "samples"), "--unit: is for one picture: of many"),
        (("-o", "f_%d.png", *FRAMES, "--cluster", "local"), ""),
        (("-o", "b.png", "--size", "32768", "--layers", "depth"), "--size"),
    ],
)
def test_refusals(words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raystream.farm.cluster.check_cluster", lambda cluster: None)
    monkeypatch.setattr("raystream.renderer.device.footprint.check_memory", memory)
    line = checked(*words)
    assert line.startswith(said) and bool(line) == bool(said), line


def memory(size: tuple[int, int], progressive: bool, layers: tuple[str, ...]) -> None:
    """Of so large a picture with a layer there is not enough."""
    assert not progressive
    if size == (32768, 32768) and layers == ("depth",):
        raise ViewerError("--size", "is too large")


@pytest.mark.parametrize(
    ("words", "quality", "denoise"),
    [
        (("-o", "b.png"), "good", "auto"),
        (("-o", "b.JPG"), "good", "auto"),
        (("-o", "f_%d.png", *FRAMES), "good", "auto"),
        (("-o", "b.png", "--quality", "best", "--spp", "9"), "best", "auto"),
        *(
            (("-o", "b.png", flag, value), None, "auto")
            for flag, value in (
                *(("--spp", "32"), ("--time", "9"), ("--error", "0.1"), ("--sample-range", "4")),
                *(("--resume", "a.exr"), ("--cluster", "local")),
            )
        ),
        (("-o", "b.png", "--preset", "2002"), None, "none"),
        (("-o", "b.exr"), None, "auto"),
        (("-o", "b.exr", "--quality", "best"), "best", "none"),
        (("-o", "b.exr", "--quality", "best", "--denoise", "oidn"), "best", "oidn"),
        (("-o", "f_%d.exr", *FRAMES), None, "auto"),
    ],
)
def test_quality(words: tuple[str, ...], quality: str | None, denoise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at has one where nothing else limits it; what is kept as radiance is not denoised for one."""
    monkeypatch.setattr("raystream.farm.cluster.check_cluster", lambda cluster: None)
    arguments = main._parse("render", ["cornell", *words])
    rendering.check_render(arguments)
    assert (arguments.quality, arguments.denoise) == (quality, denoise)


class Output(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.isatty = lambda: terminal  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("output", "words", "said"),
    [
        (Output(False), (), ""),
        (Output(True), (), "--output -: standard output is a terminal (send it to a file or a program: -o - > pict"),
        (None, (), "--output -: standard output is closed (send it"),
        (Output(False), ("--layers", "depth,normal"), "--output -: a PNG cannot hold the layers depth, normal (save"),
    ],
)
def test_standard_output(output: Any, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", output)
    line = checked("-o", "-", *words)
    assert line.startswith(said) and bool(line) == bool(said)


# -- the window and the page ---------------------------------------------------------------------------------------


def test_what_reaches_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """The options that are typed, and nothing of the command's own; of a preset all but a file's size and samples."""
    made: list[Any] = []

    class App:
        def __init__(self, scene: str, **chosen: Any) -> None:
            made.append((scene, chosen))

        def run(self) -> None:
            made.append("run")

    module = ModuleType("raystream.window.opening")
    module.opened = App  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "raystream.window.opening", module)
    for words, expected in (
        (["--program", "cast", "--fov", "50", "--debug"], {"program": "cast", "fov": 50.0}),
        (["--size", "64x48", "--spp", "9", "--exposure", "-1"], {"size": (64, 48), "spp": 9, "exposure": -1.0}),
        (["--environment", "sky", "--light", "lamp=0,1,2"], {"environment": "sky", "light": (("lamp", (0, 1, 2)),)}),
    ):
        assert commands.view(main._parse("view", ["cornell", *words]))
        assert made == [("cornell", expected), "run"]
        made.clear()
    assert commands.view(main._parse("view", ["ring", "--preset", "2003", "--photons", "64"]))
    published = {name: value for name, value in preset("2003", "ring").items() if name not in ("size", "spp")}
    assert made[0] == ("ring", {**published, "photons": 64}) and published["estimate"] == "published"


def test_what_is_no_scene_opens_no_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is told before that there is no display for one."""
    for display in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(display, raising=False)
    (tmp_path / "a.txt").write_text("no scene")
    for name, words in (("a.txt", "a.txt"), ("corneli", "corneli"), ("cornell", "no display")):
        with pytest.raises(ViewerError, match=words):
            commands.view(main._parse("view", [name]))


@pytest.mark.parametrize(("dark", "told"), [((1, 1, 1), ["dark 0"]), ((1, 0, 1), []), ((0, 0, 0), [])])
@pytest.mark.parametrize("quiet", [True, False])
def test_frames(dark, told, quiet, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Their line, their statistics, and a remark that holds for all of them: one that fades to black is meant to."""
    frames = [
        SimpleNamespace(
            number=5 + k,
            seconds=0.25 * k,
            picture=SimpleNamespace(
                stats=SimpleNamespace(to_json=lambda k=k: {"passes": k}),
                remarks=lambda exposure, k=k: [f"dark {k}"] * dark[k] if exposure == -1.5 else ["another exposure"],
            ),
        )
        for k in range(3)
    ]
    saved: list[Any] = []

    def save(output: str, given: Any, fps: float, note: Any, *shown: Any) -> None:
        for frame in given:
            note(frame)
        saved.append((output, fps, *shown))

    monkeypatch.setattr("raystream.renderer.sequence.save_frames", save)
    monkeypatch.setattr(
        "raystream.renderer.sequence.render_frames", lambda **asked: saved.append(asked) or iter(frames)
    )
    scene = SimpleNamespace(triangle_count=1200)
    monkeypatch.setattr(rendering, "load_scene", lambda arguments, progress: scene)
    monkeypatch.setattr(rendering, "perf_counter", iter((10.0, 16.0)).__next__)
    words = ["cornell", "-o", "f_%d.png", "--frames", "5-7", "--fps", "12", "--size", "64x48", "--exposure", "-1.5"]
    words += ["--tonemap", "none", "--stats", "s.json", "--turntable", *(["--quiet"] if quiet else [])]
    assert rendering.render(main._parse("render", words))
    assert saved[1] == ("f_%d.png", 12.0, -1.5, "none")
    assert saved[0]["scene"] is scene and saved[0]["frames"] == range(5, 8) and saved[0]["fps"] == 12.0
    assert saved[0]["turntable"] is True and saved[0]["render"]["stats"] is True
    out, err = capsys.readouterr()
    line = "f_%d.png: 3 frames of 64 x 48, 1,200 triangles; 6.00 s, 2.00 s a frame\n"
    assert out == ("" if quiet else line)
    assert err == ("" if quiet else "".join(f"raystream: note: {each}\n" for each in told))
    counted = [{"frame": 5 + k, "time": 0.25 * k, "passes": k} for k in range(3)]
    assert json.loads(Path("s.json").read_text()) == {"frames": counted, "wall_seconds": 6.0}


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["--camera", "-.5,0,0"], ["--camera=-.5,0,0"]),
        (["--camera", "-x"], ["--camera", "-x"]),
        (["--quiet", "-1"], ["--quiet", "-1"]),
        (["-o", "-1"], ["-o", "-1"]),
        (["--exposure", "-o", "a.png"], ["--exposure", "-o", "a.png"]),
        (["scene", "-.5"], ["scene", "-.5"]),
        (["--exposure", "-.5", "-1"], ["--exposure=-.5", "-1"]),
        (["--ground", "a.ply"], ["--ground=auto", "a.ply"]),
        (["--ground", "2x3", "a.ply"], ["--ground=2x3", "a.ply"]),
        (["-1", "--ground"], ["-1", "--ground"]),
    ],
)
def test_values_like_negative_numbers(words: list[str], joined: list[str]) -> None:
    assert main._join_values(words, main._parser("render")) == joined


# -- progress ------------------------------------------------------------------------------------------------------


def test_lines_come_ten_seconds_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """And from a hundred seconds on by a tenth of what has passed."""
    file, now = io.StringIO(), [100.0]
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with TerminalProgress() as shown:
        for seconds, fraction, told in (
            (9.99, None, ""),
            (10.0, None, "raystream: a\\n\n"),
            (19.99, None, ""),
            (20.0, 0.125, "raystream: a\\n, 12%\n"),
            (30.0, 0.25, "raystream: a\\n, 25%, 60 s left\n"),
            (199.0, 0.25, "raystream: a\\n, 25%\n"),
            (218.8, 0.5, ""),
            (222.0, 1.0, "raystream: a\\n, 100%, 0 s left\n"),
        ):
            now[0] = 100.0 + seconds
            shown(fraction, "a\n")
            assert file.getvalue() == told, seconds
            file.seek(0)
            file.truncate()


class Terminal(io.StringIO):
    """A terminal that keeps what is written on it."""

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """Without the codes of colour and of the cursor."""
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", self.getvalue())


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error from now on, which pytest has in its hands between fixtures and tests."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    for name, value in (("TERM", "xterm"), ("COLUMNS", "100"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    return made


def test_the_bar_shows_text_share_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, now = terminal_of(monkeypatch), [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with TerminalProgress(delay=1e6) as bar:
        bar(0.0, "sample 0 of 8")
        assert terminal.getvalue() == ""  # it waits
        bar._show()  # as the timer does
        assert sys.stderr is terminal, "the warnings of libraries go where they would without it"
        now[0] += 10.0
        bar(0.25, "sample 2 of 8")
        assert bar._bar is not None
        (task,) = bar._bar.tasks
        assert (task.description, task.completed, task.total) == ("sample 2 of 8", 0.25, 1.0)
        assert task.fields["left"] == "30 s left"
        bar._bar.refresh()
        assert "sample 2 of 8" in terminal.text and "30 s left" in terminal.text
        bar.note("a note")
        assert "a note\n" in terminal.text
        bar(None, "saving")
        assert (task.description, task.completed, task.fields["left"]) == ("saving", 0.0, "")
    assert terminal.getvalue().rstrip().endswith("\x1b[2K")  # its line is erased
    bar.note("afterwards")
    assert terminal.text.endswith("afterwards\n")


def test_the_parts_of_a_work_have_one_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With the share of all of them that is done; lines of their results stand above it, on standard output."""
    terminal = terminal_of(monkeypatch)
    with TerminalProgress(delay=1e6) as bar:
        bar._show()
        assert bar._bar is not None
        (task,) = bar._bar.tasks
        for number, name in enumerate(("a.glb", "b.glb")):
            bar.begin_part(number, 2, name)
            bar(0.9, "sample 9 of 10")
            assert (task.description, task.completed) == (f"{number + 1} of 2, {name}: sample 9 of 10", number / 2)
            bar.print_line(f"{name}: \x1b done")
    assert capsys.readouterr().out == "a.glb: \\x1b done\nb.glb: \\x1b done\n"
    assert "2 of 2, b.glb" in terminal.text


# The ray caster has no use for --spp, which a note says.
SMALL = ("--size", "12x8", "--program", "cast", "--spp", "2", "--machine", "singlepass", "--exposure", "1")


@pytest.mark.usefixtures("device")
def test_the_picture_alone(capfdbinary) -> None:
    assert main.main(("render", "cornell", "-o", "-", *SMALL)) == 0
    out, err = capfdbinary.readouterr()
    assert b"note: " in err and b"-: 12 x 8, 1 sample a pixel" in err and os.listdir() == ["a.exr"]
    assert main.main(("render", "cornell", "-o", "a.png", "--quiet", *SMALL)) == 0
    with open("a.png", "rb") as file:
        assert out == file.read()
    assert main.main(("render", "cornell", "-o", "-", "--quiet", *SMALL)) == 0
    assert capfdbinary.readouterr() == (out, b"")


DIM = ("--size", "12x8", "--spp", "1", "--depth", "1", "--machine", "singlepass")


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "b.png", "--exposure", "0"), "nearly black"),
        (("-o", "b.png"), "stops brighter"),
        (("-o", "b.png", "--exposure", "14"), ""),
        (("-o", "b.png", "--environment", "none"), ""),  # darkness was asked for
        (("-o", "b.png", "--program", "cast"), ""),  # it has a light of its own
        (("-o", "b.png", "--camera", "0,-4,0 0,0,0 0,0,-1"), "show nothing here"),  # it stands under the sky
        (("-o", "b.exr", "--camera", "0,-4,0 0,0,0 0,0,-1"), "nearly black"),
    ],
)
def test_dim_lights_are_told(words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Of a floor below a lamp far too dim for it: 0.03 W/sr where some 50 would do."""
    scene = raystream.Scene.from_triangles([[-9, 0, 9], [9, 0, 9], [0, 0, -9]], [[0, 1, 2]], name="dim")
    scene.lights = [raystream.Light("point", "lamp", (0, 5, 0), intensity=(0.03, 0.03, 0.03))]
    monkeypatch.setattr("raystream.formats.named.load", lambda _, **options: scene)
    above = () if "--camera" in words else ("--camera", "0,4,0 0,0,0 0,0,-1")
    assert main.main(("render", "dim", *words, *DIM, *above)) == 0
    err = capsys.readouterr().err
    assert err.count("own lights") == bool(said) and said in err


def test_what_is_nearly_black() -> None:
    picture = np.zeros((10, 10, 3), np.float32)
    assert "sky adds light, a higher --exposure brightens" in darkness(picture)
    picture[:2] = BLACK_LUMINANCE / 4
    assert "--exposure 9 brightens" in darkness(picture) and darkness(picture, 1.9)  # 0.5 / 0.00125 is 400
    assert not darkness(picture, 2.1)
    picture[0, :5] = 1  # a lamp that is seen, in the dark
    assert "a higher --exposure brightens" in darkness(picture)
    picture[:2] = np.inf, np.nan, 0
    assert not darkness(np.ones((4, 4, 3), np.float32)) and darkness(np.full((4, 4, 3), np.nan, np.float32))
