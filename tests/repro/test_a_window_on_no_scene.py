"""``raystream view`` opened a window on a file that is no scene, or a wrong name, before it said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from raystream.cli import main as cli


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nope.glb", None, "no such file"),
        ("nope", None, "neither a file nor a built-in scene"),
        ("picture.png", b"\x89PNG\r\n\x1a\n", "holds a PNG picture"),
        ("empty.ply", b"", "the file is empty"),
        ("notes.txt", b"to do", "is of no known scene format"),
    ],
)
def test_a_window_on_no_scene(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes | None,
    words: str,
) -> None:
    for display in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(display, raising=False)
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    assert cli.main(["view", name]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"raystream: error: {name}: {words}") and said.count("\n") == 1
    assert cli.main(["view", "cornell"]) == 2  # a scene: now the window is missed
    assert "no display" in capsys.readouterr().err
