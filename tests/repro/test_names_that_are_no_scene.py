"""`Renderer("bunny.ply")` and `Renderer("cornell")` failed deep inside, as did whatever else was no scene."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream.base.errors import ViewerError
from raystream.renderer.sequence import render_frames


def test_files_and_built_in_scenes_by_name(device, tmp_path, monkeypatch) -> None:
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    monkeypatch.chdir(tmp_path)
    for name, other in (("one.obj", "cornell"), (Path("one.obj"), Path("cornell")), (Path("cornell"), "one.obj")):
        renderer = raystream.Renderer(name, device=device, program="cast")
        assert renderer.scene.name == Path(name).stem
        renderer.update(other)
        assert renderer.scene.name == Path(other).stem
        renderer.release()
    frames = render_frames("balls", range(1), render={"size": (4, 4)}, program="cast", device=device)
    assert [frame.picture.linear.shape for frame in frames] == [(4, 4, 3)]


NO_SCENE = [
    (None, "scene: None cannot be shown (give a file, a built-in name, a Scene, (vertices, faces[, colors])"),
    (3, "scene: int cannot be shown"),
    (np.zeros((3, 3)), "ndarray cannot be shown"),
    (b"cornell", "bytes cannot be shown"),
    ("cornel", "cornel: neither a file nor a built-in scene (did you mean 'cornell'?)"),
    ("kitchen", "(built-in scenes: cornell, teapotahedron"),
    ("", "'': neither a file nor a built-in scene"),
    (Path("nope.ply"), "nope.ply: no such file"),
]


@pytest.mark.parametrize(("value", "line"), NO_SCENE, ids=[repr(value)[:12] for value, _ in NO_SCENE])
def test_what_is_no_scene_is_told_in_one_line(value, line) -> None:
    with pytest.raises(ViewerError, match=re.escape(line)) as caught:
        raystream.Renderer(value)
    assert "\n" not in str(caught.value)


def test_what_is_no_name(tmp_path) -> None:
    for value in (None, 3, b"cornell"):
        with pytest.raises(ViewerError, match=r"^scene: \w+ cannot be shown \(give a file, a built-in name"):
            raystream.load(value)
    with pytest.raises(ViewerError, match=r"^settings: expected a Settings, not str \(options have names: depth=8"):
        raystream.Renderer("cornell", "cast")
