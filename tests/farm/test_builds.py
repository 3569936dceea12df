"""The build by which a farm's workers are told apart: the digest of its sources, and builds that differ."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import raystream
from raystream.farm import units as build_module
from raystream.farm.units import Build, check_builds


def test_the_digest_of_code_and_shaders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all files by their names, but for the farm's own; it tells any change."""
    code, glsl = tmp_path / "viewer", tmp_path / "shaders"
    texts = {
        code / "__init__.py": b"1",
        code / "a" / "b.py": b"2",
        code / "a" / "note.txt": b"not code",
        code / "farm" / "task_scheduler.py": b"not of the samples",
        glsl / "kernel.glsl": b"3",
        glsl / "kernel.py": b"not a shader",
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    monkeypatch.setattr(raystream, "__file__", str(code / "__init__.py"))
    monkeypatch.setattr(build_module, "shaders", lambda: glsl)

    def found() -> str:
        return build_module.source_digest.__wrapped__()

    def digest(text: bytes) -> str:
        return hashlib.blake2b(text, digest_size=4).hexdigest()

    first = found()
    assert first == digest(b"__init__.py\x001\x00a/b.py\x002\x00kernel.glsl\x003\x00") and len(first) == 8
    for name in (code / "a" / "note.txt", code / "farm" / "task_scheduler.py", glsl / "kernel.py"):
        name.write_bytes(b"changed")
        assert found() == first
    (glsl / "kernel.glsl").write_bytes(b"4")
    assert found() == digest(b"__init__.py\x001\x00a/b.py\x002\x00kernel.glsl\x004\x00")
    (code / "a" / "b.py").rename(code / "a" / "c.py")
    assert found() == digest(b"__init__.py\x001\x00a/c.py\x002\x00kernel.glsl\x004\x00")


def test_builds_of_workers() -> None:
    """All the same, or allowed to differ; of three kinds each is told."""
    one, two, three = Build("1", "aa", "x"), Build("1", "ab", "x"), Build("2", "aa", "x")
    for builds in ({}, {"a": one}, {"a": one, "b": Build("1", "aa", "x")}):
        check_builds(builds, False)
    for other in (two, three, Build("1", "aa", "y")):
        check_builds({"a": one, "b": other}, True)
        with pytest.raises(raystream.ViewerError):
            check_builds({"a": one, "b": other}, False)
    with pytest.raises(raystream.ViewerError) as caught:
        check_builds({"a": one, "b": two, "c": one, "d": three, "e": one}, False)
    listing = "raystream 1 (aa), x on a and 2 more; raystream 1 (ab), x on b; raystream 2 (aa), x on d"
    what = f"its workers would give different bits: {listing}"
    assert caught.value.typed == f"--cluster: {what} (--mix-builds takes them all)"
