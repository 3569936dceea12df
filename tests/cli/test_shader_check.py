"""``check-shaders``: what it looks at, and what it says of a shader that does not compile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raystream.cli import shader_check
from raystream.stream.compile.source import Source
from raystream.stream.gl.draw import tiles_source

VALIDATOR = """#!/bin/sh
if grep -q WRONG; then echo "ERROR: 0:3: 'WRONG' : not on this driver"; exit 1; fi
"""


def source(name: str, *lines: str) -> tuple[str, Source]:
    made = Source()
    made.add("#version 330 core\nout vec4 color;", "begin")
    made.add("\n".join(lines), f"{name}.glsl")
    return name, made


GOOD = source("good", "void main() { color = vec4(1.0); }")
BAD = source("bad", "void main() { color = vec4(nothing); }")
ELSEWHERE = source("elsewhere", "#define WRONG", "void main() { color = vec4(0.5); }")


def checked(monkeypatch: pytest.MonkeyPatch, device: Any, *sources: tuple[str, Source]) -> tuple[int, list[str]]:
    said: list[str] = []
    drawn = [(name, {"vert": tiles_source(), "frag": made}) for name, made in sources]
    monkeypatch.setattr(shader_check, "jobs", lambda device: [iter(drawn)])
    return shader_check.check_shaders(said.append, device), said


LINES = len(tiles_source().lines) + len(GOOD[1].lines)


def test_failures_are_counted_and_told_by_their_lines(device, monkeypatch) -> None:
    monkeypatch.setattr(shader_check.shutil, "which", lambda name: None)
    failures, said = checked(monkeypatch, device, GOOD, BAD, GOOD)
    assert failures == 1
    assert said[0] == f"good: ok, {LINES} lines"
    assert said[1].startswith("bad: bad.glsl") and "nothing" in said[1]
    assert any(line.startswith("    bad.glsl: ") for line in said[2:-1])
    assert "kernels/scatter.glsl: in no program" in said
    assert said[-1].startswith(f"2 programs compiled by {device.name} (glslangValidator is not installed")
    assert said[-1].endswith(", 1 failed")


def test_programs_beyond_the_driver_are_left_out(device, monkeypatch) -> None:
    """Of the mask by exported stencil values: without the extension machines write them bit by bit."""
    monkeypatch.setattr(shader_check.shutil, "which", lambda name: None)
    made = Source()
    made.add("#version 330 core\n#extension GL_ARB_no_driver_has_it : require\nout vec4 color;", "begin")
    failures, said = checked(monkeypatch, device, GOOD, ("beyond", made))
    assert failures == 0
    assert said[1] == "beyond: left out, needs GL_ARB_no_driver_has_it, which this driver has not"
    assert said[-1].startswith("1 programs compiled by ") and said[-1].endswith(", 0 failed, 1 left out")


def test_a_validator_has_a_say(device, monkeypatch, tmp_path: Path) -> None:
    validator = tmp_path / shader_check.VALIDATOR
    validator.write_text(VALIDATOR)
    validator.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    failures, said = checked(monkeypatch, device, GOOD, ELSEWHERE)
    assert failures == 1 and said[0] == f"good: ok, {LINES} lines"
    assert said[1].startswith("elsewhere: elsewhere.glsl") and "not on this driver" in said[1]
    assert said[-1] == f"2 programs compiled by {device.name} and validated by glslangValidator, 1 failed"


def test_one_program_alone(device, monkeypatch) -> None:
    """All of its forms, with progress, and no word of files that others include."""
    monkeypatch.setattr(shader_check.shutil, "which", lambda name: None)
    said: list[str] = []
    seen: list[tuple[float | None, str]] = []
    assert not shader_check.check_shaders(said.append, device, "cast", lambda share, text: seen.append((share, text)))
    for words in ("cast single pass (bvh)", "cast single pass (two-level-bvh)", "cast none/", "moving", "counts 0 to"):
        assert any(words in line for line in said), words
    assert all(line.startswith("cast ") for line in said[:-1]) and said[-1].endswith(", 0 failed")
    shares = [share for share, _ in seen if share is not None]
    assert shares == sorted(shares) and shares[0] == 0 and 0.5 < shares[-1] < 1
    assert seen[0][1].startswith("shader 1, cast single pass")


@pytest.mark.parametrize("counting", [False, True])
def test_single_passes_are_checked_as_the_machine_draws_them(
    device: Any, monkeypatch: pytest.MonkeyPatch, counting: bool
) -> None:
    """To the last of the forms that its programs have."""
    from raystream.renderer.renderer import Renderer
    from raystream.stream.machines.singlepass import Singlepass

    renderer = Renderer(shader_check.TRIANGLE, program="cast", device=device)
    program, forms = renderer.program(), list[Any]()
    fragment = shader_check.fragment
    monkeypatch.setattr(shader_check, "fragment", lambda *given: forms.append(given[2]) or fragment(*given))
    list(shader_check._single(renderer, program, "cast", counting))
    scene = renderer.gpu_scene
    linked = scene.bind(program, renderer.settings, False)
    machine = Singlepass(device, linked, (4, 4), scene.resources, counting=counting)
    assert set(forms) == {form for _, form in machine.shaders}
    machine.release()
