"""``raystream thumbnail``: the standard's PNG, inputs as file managers give them, and the entry that they look for."""

from __future__ import annotations

import configparser
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from calls import error_line, run
from PIL import Image

from raystream.cli.thumbnail import local_path

MODEL = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n"


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model whose name has a blank, changed at a time of its own."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "a model.obj"
    made.write_text(MODEL)
    os.utime(made, (5, 1234567890.75))
    return made


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("by", ["path", "uri"])
def test_the_png_tells_of_its_file(model: Path, by: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The chunks that the standard requires; whatever the output's name; through a link, which stays; readable by its
    owner alone."""
    if by == "uri":
        Path("out.tmp").symlink_to("real.tmp")
    run("thumbnail", model.name if by == "path" else model.as_uri(), "out.tmp", "32")
    assert capsys.readouterr() == ("", "")
    with Image.open("out.tmp") as found:
        assert (found.format, found.size, found.mode, found.info.get("interlace")) == ("PNG", (32, 32), "RGB", None)
        assert found.text == {"Thumb::URI": model.as_uri(), "Thumb::MTime": "1234567890"}  # type: ignore[attr-defined]
        values = np.asarray(found)
    assert "%20" in model.as_uri() and np.ptp(values) > 20
    assert stat.S_IMODE(os.stat("out.tmp").st_mode) == 0o600
    assert Path("out.tmp").is_symlink() == Path("real.tmp").is_file() == (by == "uri")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "thumbnail: the input is missing"),
        (("a model.obj", "a.png"), "thumbnail: the size is missing (such as raystream thumbnail a.glb a.png 256)"),
        (("a model.obj", "a.png", "1025"), "size '1025': expected"),
        (("none.obj", "a.png", "32"), "none.obj: No such file or directory"),
        (("file://host/a.obj", "a.png", "32"), "file://host/a.obj: is no file of this machine"),
        (("a model.obj", "no/a.png", "32"), "no/a.png: there is no folder"),
        (("broken.glb", "a.png", "32"), "broken.glb: "),
        (("a model.obj", "a.png", "32", "more"), "'more': one argument too many"),
    ],
)
def test_refusals(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.glb").write_text("no model")
    run("thumbnail", *words, code=2)
    assert error_line(capsys).startswith(said)
    assert sorted(os.listdir()) == ["a model.obj", "broken.glb"]


def test_sources() -> None:
    assert local_path("/a b.glb") == "/a b.glb" and local_path("a:b.glb") == "a:b.glb"
    assert local_path("file:///a%20b%C3%A4.glb") == "/a b\xe4.glb" == local_path("FILE://localhost/a%20b%C3%A4.glb")
    Path("file:").mkdir()
    Path("file:/x.glb").touch()
    assert local_path("file:/x.glb") == "file:/x.glb"  # there is one of that name


def test_the_entry_is_a_file_manager_s(capsys: pytest.CaptureFixture[str]) -> None:
    run("thumbnail", "--entry")
    found = configparser.ConfigParser(interpolation=None)
    found.optionxform = str  # type: ignore[method-assign,assignment]
    found.read_string(capsys.readouterr().out)
    entry = found["Thumbnailer Entry"]
    assert entry["TryExec"] == "raystream" and entry["Exec"] == "raystream thumbnail %u %o %s"
    types = entry["MimeType"].split(";")
    assert types[-1] == "" and {"model/gltf-binary", "model/gltf+json", "model/obj", "model/stl"} < set(types)
