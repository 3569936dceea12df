"""The printer of generated GLSL."""

from __future__ import annotations

import glsl
import pytest

from raystream.base.paths import shaders


def test_glsl_shows_where_each_line_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert glsl.main(["--step", "traverse"]) == 0
    printed = capsys.readouterr().out.splitlines()
    shown = dict(
        line.split(" | ", 1) for line in printed if line.startswith("kernels/traversal_step.glsl:") and " | " in line
    )
    shown = {origin.strip(): text for origin, text in shown.items()}
    written = (shaders() / "kernels/traversal_step.glsl").read_text().splitlines()
    for number, line in enumerate(written, 1):
        if line.strip() and "#include" not in line:
            assert shown[f"kernels/traversal_step.glsl:{number}"] == line
    assert any(line.startswith("record Ray ") for line in printed)
    assert not any("triangle_test" in line for line in printed)


@pytest.mark.parametrize("arguments", [["--step", "nothing"], ["--fuse", "nothing"]])
def test_glsl_names_what_there_is(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert glsl.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "nothing" in error
