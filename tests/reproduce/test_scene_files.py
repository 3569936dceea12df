"""Where the report's scenes come from: every scene is listed, and a file of other triangles is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

import reproduce
from reproduction import scene_files
from reproduction.scene_files import MISSING, OTHER, RIGHT, SceneFile

import raystream
from raystream.base.errors import ViewerError

CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.1), (1.0, 1.0, 0.0)]
FACES = [(0, 1, 2), (1, 3, 2)]


def ply(path: Path, faces: list[tuple[int, ...]], text: bool) -> Path:
    kind = "ascii" if text else "binary_little_endian"
    head = f"ply\nformat {kind} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    if text:
        rows = [" ".join(map(str, corner)) for corner in CORNERS] + [f"3 {a} {b} {c}" for a, b, c in faces]
        path.write_text(head + "\n".join(rows) + "\n")
        return path
    body = np.array(CORNERS, "<f4").tobytes()
    body += b"".join(b"\3" + np.array(face, "<i4").tobytes() for face in faces)
    path.write_bytes(head.encode() + body)
    return path


def test_a_checksum_is_of_triangles_whatever_the_format(tmp_path: Path) -> None:
    one, two = ply(tmp_path / "one.ply", FACES, True), ply(tmp_path / "two.ply", FACES, False)
    assert scene_files.digest(one) == scene_files.digest(two)
    assert scene_files.digest(ply(tmp_path / "other.ply", FACES[::-1], True)) != scene_files.digest(one)
    assert scene_files.digest(one)[0] == 2


def test_files_are_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """Right, missing, other and damaged files of a folder; only what is there and another makes an error."""
    (tmp_path / "scenes").mkdir()
    count, digest = scene_files.digest(ply(tmp_path / "any.ply", FACES, True))
    file = SceneFile("quad.ply", "https://example.org: quad.ply", count, digest, "its rows are left out")
    monkeypatch.setattr(scene_files, "FILES", (file,))
    for make, state, code in (
        (lambda path: None, MISSING, 0),
        (lambda path: ply(path, FACES, False), RIGHT, 0),
        (lambda path: ply(path, FACES[:1], True), OTHER, 1),
        (lambda path: path.write_text("ply\nnonsense"), OTHER, 1),
    ):
        make(tmp_path / "scenes" / "quad.ply")
        assert scene_files.file_state(file, tmp_path).startswith(state)
        assert reproduce.main(["--scenes", str(tmp_path)]) == code
        said = capsys.readouterr().out
        assert f"quad.ply: {state}" in said and digest in said and file.source in said
        assert ("without it: its rows are left out" in said) == (state != RIGHT)
    with pytest.raises(ViewerError, match="is no folder"):
        scene_files.summary(tmp_path / "nowhere")
    assert reproduce.main(["--scenes", str(tmp_path / "nowhere")]) == 2


def test_the_scene_data_has_the_files_of_the_report(shared_scenes: Path) -> None:
    states = {file.name: scene_files.file_state(file, shared_scenes.parent) for file in scene_files.FILES}
    assert set(states.values()) <= {RIGHT, MISSING} and RIGHT in states.values(), states
    assert raystream.load(str(shared_scenes / "bunny.ply")).triangle_count == scene_files.FILES[0].triangles
