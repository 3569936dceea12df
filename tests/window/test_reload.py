"""Changed shader files are seen; machines are compiled anew, all or none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.base import paths
from raystream.base.errors import ShaderError
from raystream.renderer.renderer import Renderer
from raystream.window.app import EVERY, Watch


@pytest.fixture
def shaders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shaders that may be edited."""
    copy = tmp_path / "shaders"
    shutil.copytree(paths.shaders(), copy)
    monkeypatch.setattr(paths, "shaders", lambda: copy)
    return copy


def test_watch(shaders: Path) -> None:
    watch, files = Watch(), {"lib/srgb.glsl", "kernels/describe.glsl"}
    assert watch.changed(files, 0.0) == []
    file = shaders / "lib" / "srgb.glsl"
    text = file.read_text()
    file.write_text(text + "\n// more")
    (shaders / "lib" / "direction.glsl").write_text("nobody's")
    assert watch.changed(files, 0.5 * EVERY) == []  # not yet time to look
    assert watch.changed(files, 1.1 * EVERY) == ["lib/srgb.glsl"]
    assert watch.changed(files, 2.2 * EVERY) == []
    file.unlink()
    assert watch.changed(files, 3.3 * EVERY) == ["lib/srgb.glsl"]
    file.write_text(text)
    assert watch.changed(files, 4.4 * EVERY) == ["lib/srgb.glsl"]


@pytest.mark.parametrize("machine", ["multipass", "singlepass"])
def test_machines_are_compiled_anew(device: Any, shaders: Path, machine: str) -> None:
    renderer = Renderer(raystream.load("teapotahedron"), device=device, machine=machine, program="cast")
    size = (64, 48)
    before = renderer.render(size).linear
    kept = dict(renderer.gpu_scene.machines)
    assert {"kernels/shade_headlight.glsl", "lib/direction.glsl"} <= {*device.files}
    file = shaders / "kernels" / "shade_headlight.glsl"
    good = file.read_text()
    end = good.rindex("    return")

    file.write_text(good[:end] + "    radiance.rgb = nothing;\n" + good[end:])
    with pytest.raises(ShaderError, match=r"kernels/shade_headlight\.glsl:\d+.*nothing"):
        renderer.reload()
    assert renderer.gpu_scene.machines == kept
    np.testing.assert_array_equal(renderer.render(size).linear, before)

    file.write_text(good[:end] + "    radiance.rgb *= 2.0;\n" + good[end:])
    renderer.reload()
    hit = renderer.render(size, layers=("triangle",)).layers["triangle"] >= 0
    after = renderer.render(size).linear
    np.testing.assert_array_equal(after[hit], 2 * before[hit])  # exact: a power of two
    np.testing.assert_array_equal(after[~hit], before[~hit])
