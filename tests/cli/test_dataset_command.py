"""``raystream dataset``: what it writes, goes on with and refuses; whatever stops it leaves whole files."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calls import error_line, process, run

from raystream.base.errors import ViewerError
from raystream.cli import dataset
from raystream.dataset import folder as folders
from raystream.dataset.picture import DatasetRenderer, FinishedPicture

RECIPE = """
scenes = 2
views = 2
size = [24, 18]
cameras = { distance = [1, 2] }
environment = { choices = [[1, 1, 1]] }
render = { spp = 1, denoise = "none", machine = "singlepass" }
models = [{ file = "a.obj", size = 0.5, count = 2 }]
"""
MODEL = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
EVERY = [0, 1, 2, 3]
pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a model and a recipe."""
    monkeypatch.chdir(tmp_path)
    Path("a.obj").write_text(MODEL)
    Path("r.toml").write_text(RECIPE)
    return tmp_path


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the pictures that are made, from now on."""
    found: list[int] = []
    make = DatasetRenderer.render

    def counted(self: DatasetRenderer, number: int) -> FinishedPicture:
        found.append(number)
        return make(self, number)

    monkeypatch.setattr(DatasetRenderer, "render", counted)
    return found


def files(folder: str = "r") -> dict[str, bytes]:
    """All files by their paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()
    }


def test_a_dataset_is_made_and_made_again_alike(made: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    run("dataset", "r.toml")
    out, err = capsys.readouterr()
    assert out.startswith("r: 4 pictures of 24 x 18, 1 object; 4 made in ") and err == "" and made == EVERY
    first = files()
    assert {"coco.json", "camera.json", "manifest.jsonl", "models/obj_000001.ply", "models/models_info.json"} <= set(
        first
    )
    for scene in ("000000", "000001"):
        own = {name.removeprefix(f"train_pbr/{scene}/") for name in first if name.startswith(f"train_pbr/{scene}/")}
        assert {"scene_camera.json", "scene_gt.json", "scene_gt_info.json", "transforms.json"} <= own
        assert {f"{layer}/00000{view}.png" for layer in ("rgb", "depth", "foreground") for view in (0, 1)} <= own
        assert {f"{m}/00000{v}_00000{t}.png" for m in ("mask", "mask_visib") for v in (0, 1) for t in (0, 1)} <= own
    assert len(json.loads(first["coco.json"])["images"]) == 4
    lines = [json.loads(line) for line in first["manifest.jsonl"].splitlines()]
    assert [line["number"] for line in lines[1:]] == EVERY
    for line in lines[1:]:
        assert all(len(first[name]) == size for name, size in line["files"].items())
    run("dataset", "r.toml", "--quiet")
    assert made == EVERY and files() == first  # nothing is left to do
    run("dataset", "r.toml", "-o", "again", "--quiet")
    assert files("again") == first and capsys.readouterr().err == ""


def test_it_goes_on_where_it_stopped(made: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    """After a line that is cut, a file that is missing and one that is cut: these pictures are made again."""
    run("dataset", "r.toml", "-o", "whole", "--quiet")
    run("dataset", "r.toml", "--quiet")
    whole = files("whole")
    manifest = Path("r/manifest.jsonl")
    lines = manifest.read_bytes().splitlines(keepends=True)
    manifest.write_bytes(b"".join(lines[:4]) + lines[4][:50])
    Path("r/train_pbr/000000/rgb/000001.png").unlink()
    (cut := Path("r/train_pbr/000001/depth/000000.png")).write_bytes(cut.read_bytes()[:-1])
    Path("r/coco.json").unlink()
    made.clear()
    run("dataset", "r.toml")
    out, err = capsys.readouterr()
    assert made == [1, 2, 3] and files() == whole
    assert err == "raystream: note: goes on after 1 of 4 pictures\n" and "; 3 made in" in out


def test_a_stop_leaves_whole_pictures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run("dataset", "r.toml", "-o", "whole", "--quiet")
    write, count = folders.write_whole, 0

    def stopping(*given: Any) -> None:
        nonlocal count
        count += 1
        if count == 12:  # within the second picture
            raise KeyboardInterrupt
        write(*given)

    monkeypatch.setattr(folders, "write_whole", stopping)
    run("dataset", "r.toml", code=130)
    assert capsys.readouterr().err == "raystream: stopped after 1 of 4 pictures; the same command goes on\n"
    assert len(Path("r/manifest.jsonl").read_text().splitlines()) == 2 and not Path("r/coco.json").exists()
    monkeypatch.setattr(folders, "write_whole", write)
    run("dataset", "r.toml", "--quiet")
    assert files() == files("whole")


@pytest.mark.skipif(sys.platform == "win32", reason="RLIMIT_FSIZE is POSIX")
def test_full_disks(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of a file's size stands in for one: one line, nothing half-written, and the same command goes on."""
    import resource

    run("dataset", "r.toml", "-o", "whole", "--quiet")
    largest = max(len(data) for name, data in files("whole").items() if name.startswith("train_pbr"))

    def limited(limit: int) -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    monkeypatch.setenv("RAYSTREAM_CACHE_DIR", str(place / "cache"))
    for limit in (10, largest - 1):
        done = process("dataset", "r.toml", "--quiet", cwd=place, preexec_fn=partial(limited, limit))
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
        assert done.stderr.startswith("raystream: error: ") and "cannot be written" in done.stderr
        whole = files("whole")
        assert all(whole[name] == data for name, data in files().items() if name != "manifest.jsonl")
        manifest = Path("r/manifest.jsonl").read_bytes()
        assert manifest in (b"", whole["manifest.jsonl"][: len(manifest)]) and not manifest.rpartition(b"\n")[2]
    run("dataset", "r.toml", "--quiet")
    assert files() == files("whole")


def test_processes_give_the_same_files(capsys: pytest.CaptureFixture[str]) -> None:
    run("dataset", "r.toml", "-o", "whole", "--quiet")
    run("dataset", "r.toml", "--jobs", "2", "--quiet")
    assert files() == files("whole") and capsys.readouterr() == ("", "")


def test_faults_of_processes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that dies has made nothing."""

    def answers(tasks: list[Namespace], jobs: int, renderer: str) -> Iterator[Any]:
        assert (jobs, renderer) == (2, dataset.RENDERER) and [task.index for task in tasks] == [3, 5]
        yield [], "made", ""
        yield [], "", f"{tasks[0].scene}: died"

    monkeypatch.setattr(dataset, "results", answers)
    asked = Namespace(jobs=7, cluster=None, debug=False)
    stage: Any = Namespace(recipe=None)
    found = dataset.pictures(stage, [3, 5], asked, None)  # type: ignore[arg-type]
    assert next(found) == "made"  # type: ignore[comparison-overlap]
    with pytest.raises(ViewerError, match="picture 3: died"):
        next(found)
    assert [*dataset.pictures(stage, [], asked, None)] == []  # type: ignore[arg-type]


@pytest.fixture
def unmade(monkeypatch: pytest.MonkeyPatch) -> None:
    """No picture is to be made."""
    monkeypatch.setattr(DatasetRenderer, "render", lambda self, number: pytest.fail(f"picture {number} is made"))


@pytest.mark.usefixtures("unmade")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "dataset: the recipe is missing (such as raystream dataset shoes.toml)"),
        (("none.toml",), "'none.toml': cannot be read: No such file or directory"),
        (("r.toml", "--spp", "3"), "option '--spp': unknown"),
        (
            ("r.toml", "--jobs", "2", "--cluster", "local"),
            "--jobs: are processes of this machine, in place of --cluster",
        ),
        (("r.toml", "--cluster", "tcp:"), "tcp:: "),
        (("r.toml", "-o", "a.obj"), "'a.obj': is a file"),
        (("r.toml", "-o", "."), ".: holds other files (give a new folder with -o)"),
        (("r.toml", "-o", "no/r"), "'no/r': cannot be a dataset's folder: No such file or directory"),
        (("r.toml", "-o", "n" * 10_000), "'nnnn"),
        (("recipe",), "recipe: is the recipe itself"),
        (("missing.toml",), "missing.toml: models[0]: "),
    ],
)
def test_refusals(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, before any work; nothing is left."""
    Path("recipe").write_text(RECIPE)
    Path("missing.toml").write_text(RECIPE.replace("a.obj", "none.glb"))
    before = sorted(os.listdir())
    run("dataset", *words, code=2)
    line = error_line(capsys)
    assert line.startswith(said) and len(line) < 600
    assert sorted(os.listdir()) == before


def begun(head: str) -> Path:
    """A folder with a manifest."""
    Path("r").mkdir()
    Path("r/manifest.jsonl").write_text(head)
    return Path("r/manifest.jsonl")


@pytest.mark.usefixtures("unmade")
@pytest.mark.parametrize(
    ("head", "what"),
    [
        ('{"recipe":"0123","raystream":"VERSION"}\n', "another recipe, or other models"),
        ('{"recipe":"0123","raystream":"0.0.7"}\n', "another version"),
    ],
)
def test_another_recipe_s_folder(head: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    from raystream.base.version import __version__

    text = head.replace("VERSION", __version__)
    manifest = begun(text)
    Path("r/coco.json").touch()
    run("dataset", "r.toml", code=2)
    assert error_line(capsys) == f"r: holds pictures of {what} (give another folder with -o, or delete this one)"
    assert manifest.read_text() == text


@pytest.mark.usefixtures("unmade")
def test_a_folder_that_another_process_writes(capsys: pytest.CaptureFixture[str]) -> None:
    fcntl = pytest.importorskip("fcntl")
    with open(begun(""), "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run("dataset", "r.toml", code=2)
    assert error_line(capsys) == "r: another process is writing it (wait for that one)"
