"""Several scenes in one command: a file each, with the bits of single renders; what fails is told at the end."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from calls import error_line, process, run

from raystream.base.errors import ViewerError
from raystream.cli import rendering, workers
from raystream.cli.progress import TerminalProgress
from raystream.film.files.image import read_exr

SMALL = ("--size", "12x8", "--spp", "1", "--machine", "singlepass")
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 {top} 0\nf 1 2 3\n"
# A worker whose pictures are texts, and which one of the scenes kills.
PRETENDING = """
import os
from raystream.cli import rendering, workers
def render(self, task, progress):
    if task.scene == "dies":
        os._exit(7)
    progress.note(f"note of {task.scene}")
    return ("", "no scene") if task.scene == "wrong" else (f"{task.output} by {os.environ['LP_NUM_THREADS']}", "")
rendering.SceneRenderer.render = render
workers.serve_tasks()
"""
pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh one to work in, with two models and a file that is none."""
    monkeypatch.chdir(tmp_path)
    for name, top in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.obj").write_text(TRIANGLE.format(top=top))
    (tmp_path / "broken.glb").write_text("no model")
    (tmp_path / "out").mkdir()
    return tmp_path


def pixels(path: str) -> np.ndarray:
    """The colour channels, (H, W, 3), of an EXR."""
    channels = read_exr(path)[1]
    return np.stack([channels[name] for name in "RGB"], axis=-1)


@pytest.mark.parametrize(
    ("pattern", "scene", "number", "count", "output"),
    [
        ("out/{stem}.png", "in/a.b.glb", 0, 2, "out/a.b.png"),
        ("{name}.png", "in/a.glb", 0, 2, "a.glb.png"),
        ("{index}-{stem}.png", "cornell", 3, 10, "3-cornell.png"),
        ("{index}.png", "a.glb", 3, 11, "03.png"),
        ("{stem}{stem}.png", "{index}.glb", 0, 1, "{index}{index}.png"),
        ("{what}.png", "a.glb", 0, 1, "{what}.png"),
    ],
)
def test_files(pattern: str, scene: str, number: int, count: int, output: str) -> None:
    assert rendering.output_path(pattern, scene, number, count) == output


def test_each_picture_has_the_bits_of_its_own_render(capsys: pytest.CaptureFixture[str]) -> None:
    run("render", "a.obj", "broken.glb", "b.obj", "cornell", "-o", "out/{stem}.exr", *SMALL, code=2)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == [f"out/{name}.exr" for name in ("a", "b", "cornell")]
    assert lines[-1].startswith("3 of 4 pictures; ")
    notes = err.splitlines()
    assert notes.pop().startswith("raystream: error: broken.glb: ")
    assert [note[: len("raystream: note: ?.obj: ")] for note in notes] == [f"raystream: note: {k}.obj: " for k in "ab"]
    assert sorted(os.listdir("out")) == ["a.exr", "b.exr", "cornell.exr"]
    for name in ("a.obj", "b.obj", "cornell"):
        run("render", name, "-o", "alone.exr", "--quiet", *SMALL)
        np.testing.assert_array_equal(pixels(f"out/{Path(name).stem}.exr"), pixels("alone.exr"))


def test_a_pattern_that_the_shell_has_left(capsys: pytest.CaptureFixture[str]) -> None:
    run("render", "*.obj", "-o", "out/{index}.png", *SMALL)
    assert sorted(os.listdir("out")) == ["0.png", "1.png"]
    run("render", "a.o*j", "-o", "out/{stem}.png", *SMALL)
    assert capsys.readouterr().out.splitlines()[-1].startswith("out/a.png: 12 x 8, ")


def test_the_folder_of_the_pictures_is_made() -> None:
    run("render", "a.obj", "b.obj", "-o", "thumbs/{stem}.png", *SMALL, "--quiet")
    run("render", "a.obj", "-o", "{stem}/{name}.png", *SMALL, "--quiet")
    assert sorted(os.listdir("thumbs")) == ["a.png", "b.png"] and os.listdir("a") == ["a.obj.png"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a.obj", "b.obj"), "--output: one file cannot hold the pictures of 2 scenes, 'a.obj', 'b.obj' (such as -o"),
        (
            ("a.obj", "b.obj", "-o", "a.png"),
            "a.png: one file cannot hold the pictures of 2 scenes, 'a.obj', 'b.obj' (such as",
        ),
        (("a.obj", "./a.obj", "-o", "{stem}.png"), "a.png: both a.obj and ./a.obj would go there (add {index} to -o)"),
        (("a.obj", "b.obj", "-o", "no/no/{stem}.png"), "no/no/a.png: there is no folder"),
        (("a.obj", "b.obj", "-o", "no/{stem}.bmp"), "no/a.bmp: unknown picture format"),
        (("a.obj", "b.obj", "-o", "{stem}_%d.png", "--frames", "0-3"), "--frames: is for one scene, and there are 2"),
        (("a.obj", "b.obj", "-o", "{stem}.png", "--stats", "s.json"), "--stats: is for one scene, and there are 2"),
        (("a.obj", "b.obj", "-o", "{stem}.exr", "--resume", "auto"), "--resume: is for one scene, and there are 2"),
    ],
)
def test_refusals(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before any work, in one line."""
    before = sorted(os.listdir())
    run("render", *words, code=2)
    assert error_line(capsys).startswith(said)
    assert sorted(os.listdir()) == before and os.listdir("out") == []


def test_the_renderer_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fault of a scene's, too; not after a fault of the program's."""
    given: list[Any] = []
    outcomes: list[Any] = ["first", ViewerError("s", "bad"), "second", ValueError("bug"), "third"]

    def rendered(task: Namespace, progress: Any, renderer: Any) -> SimpleNamespace:
        given.append(renderer)
        if isinstance(outcome := outcomes[len(given) - 1], Exception):
            raise outcome
        return SimpleNamespace(renderer=outcome, line=f"line of {outcome}")

    monkeypatch.setattr(rendering, "render_picture", rendered)
    renderer, task, progress = (
        rendering.SceneRenderer(),
        Namespace(scene="s", debug=False),
        TerminalProgress(quiet=True),
    )
    found = [renderer.render(task, progress) for _ in outcomes]
    assert given == [None, "first", "first", "second", None]
    assert [made for made, _ in found] == ["line of first", 2, "line of second", 1, "line of third"]
    assert found[1][1] == "s: bad" and found[3][1].startswith("s: ValueError: bug (this is a bug")


def test_a_worker_that_dies_is_the_fault_of_its_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks that follow have another one; notes and faults come with the answers."""
    monkeypatch.setattr(workers, "CODE", PRETENDING)
    monkeypatch.setattr("os.cpu_count", lambda: 5)
    monkeypatch.delenv("LP_NUM_THREADS", raising=False)
    names = ("one", "dies", "wrong", "two", "dies", "three")
    tasks = [Namespace(scene=name, output=f"{name}.png") for name in names]
    found = sorted(workers.results(tasks, 2, rendering.RENDERER))
    assert found == sorted(
        [
            *[([], "", "dies: the process died that rendered it (exit code 7)")] * 2,
            (["note of wrong"], "", "no scene"),
            *(([f"note of {name}"], f"{name}.png by 2", "") for name in ("one", "two", "three")),
        ]
    )


def test_workers_end_with_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CODE", PRETENDING)
    left = workers.results([Namespace(scene=str(k), output="") for k in range(50)], 2, rendering.RENDERER)
    next(left)
    left.close()  # as Ctrl-C does; the fixtures' threads would otherwise stay
    assert not any(isinstance(thread, workers._TaskServer) for thread in workers.threading.enumerate())


def test_processes_give_the_same_pictures(folder: Path) -> None:
    done = process("render", "a.obj", "broken.glb", "b.obj", "-o", "out/{stem}.exr", "--jobs", "2", *SMALL, cwd=folder)
    assert done.returncode == 2
    assert sorted(line.partition(":")[0] for line in done.stdout.splitlines()[:-1]) == ["out/a.exr", "out/b.exr"]
    notes = done.stderr.splitlines()
    assert notes.pop().startswith("raystream: error: broken.glb: ")
    assert sorted(note[: len("raystream: note: ?.obj")] for note in notes) == [
        f"raystream: note: {k}.obj" for k in "ab"
    ]
    for name in ("a", "b"):
        run("render", f"{name}.obj", "-o", "alone.exr", "--quiet", *SMALL)
        np.testing.assert_array_equal(pixels(f"out/{name}.exr"), pixels("alone.exr"))


def test_a_fault_of_the_program_counts_more_than_a_file_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    faults: dict[str, Exception] = {"cornell": ViewerError("a", "is missing"), "ring": KeyError("a bug")}

    def failing(task: Namespace, *rest: Any) -> None:
        raise faults[task.scene]

    monkeypatch.setattr(rendering, "render_picture", failing)
    run("render", "cornell", "ring", "-o", "{stem}.png", code=1)
