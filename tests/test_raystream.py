"""``import raystream``: the public name of all that ``viewer/__init__.pyi`` lists, and the command by ``-m``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream.cli import main as cli

ROOT = Path(__file__).resolve().parents[1]


def python(*arguments: str) -> str:
    """Standard output of Python from the checkout."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_names_are_the_package_s():
    assert sorted(raystream.__all__) == dir(raystream)
    stub = (ROOT / "viewer" / "__init__.pyi").read_text()
    for name in raystream.__all__:
        assert getattr(raystream, name) is not None and stub.count(f" as {name}\n") == 1
    assert raystream.farm.render.__module__ == "raystream.farm.pictures"
    with pytest.raises(AttributeError, match=r"^No raystream attribute rendr"):
        raystream.rendr  # noqa: B018


def test_it_is_quick():
    """NumPy, OpenGL and all else are imported when a name needs them."""
    code = "import sys, raystream; dir(raystream); print([n for n in ('numpy', 'moderngl', 'PIL') if n in sys.modules])"
    assert python("-c", code) == "[]\n"
    assert python("-c", "from raystream import *; print(Camera.__name__, render.__name__)") == "Camera render\n"


TRIANGLE = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
SMALL = {"spp": 1, "machine": "singlepass"}


def test_cameras_in_numbers(device):
    """Points, and the matrix of a camera's place, which looks along its own -Z."""
    place = np.eye(4)
    place[:3, 3] = 0.5, 0, 4
    pictures = [
        raystream.render(TRIANGLE, camera=camera, environment=(1, 1, 1), size=8, **SMALL).linear
        for camera in ("0.5,0,4 0.5,0,3", ((0.5, 0, 4), (0.5, 0, 3)), ((0.5, 0, 4), (0.5, 0, 3), (0, 1, 0)), place)
    ]
    assert all(np.array_equal(pictures[0], each) for each in pictures[1:]) and np.ptp(pictures[0]) > 0


@pytest.mark.parametrize(
    ("word", "option", "home"),
    [
        ("skybox", "environment", ""),
        ("integrator", "program", ""),
        ("max_bounces", "depth", ""),
        ("samples", "spp", ", of Renderer.render"),
        ("width", "size", ", of Renderer.render"),
        ("tone_mapping", "tonemap", ", of Picture.save"),
    ],
)
def test_other_renderers_words(word, option, home, tmp_path, capsys):
    with pytest.raises(raystream.ViewerError, match=rf"unknown to Renderer \(did you mean '{option}'{home}\?\)$"):
        raystream.Renderer("cornell", **{word: 3})
    home = home if "Picture" in home else ""
    with pytest.raises(raystream.ViewerError, match=rf"unknown to render \(did you mean '{option}'{home}\?\)$"):
        raystream.render("cornell", **{word: 3})
    assert cli.main(("render", "cornell", "-o", "a.png", f"--{word.replace('_', '-')}", "3")) == 2
    assert f"unknown (did you mean '--{option}'?)" in capsys.readouterr().err


def test_a_renderer_takes_what_render_takes(device):
    whole = raystream.render(TRIANGLE, up="z", camera="3,2,1 0,0,0", environment=(1, 1, 1), size=8, **SMALL)
    renderer = raystream.Renderer(TRIANGLE, up="z", camera="3,2,1 0,0,0", environment=(1, 1, 1), machine="singlepass")
    assert np.array_equal(renderer.render(size=8, spp=1).linear, whole.linear)
    assert repr(renderer).startswith("<Renderer of <Scene 'arrays': 1 triangles")
    assert renderer.device.name in repr(renderer) and "program path" in repr(renderer)
    renderer.update((TRIANGLE[0], [[0, 1, 2], [2, 1, 0]]))
    assert renderer.scene.triangle_count == 2
    frames = raystream.render_frames(TRIANGLE, range(2), turntable=True, render={"size": 4}, program="cast")
    assert [frame.picture.linear.shape for frame in frames] == [(4, 4, 3)] * 2
    with pytest.raises(raystream.ViewerError, match=r"^up='x': is not an up axis"):
        raystream.Renderer(TRIANGLE, up="x")


def test_notes_are_warnings(device, tmp_path):
    """What the command line tells as a note, with Python's keywords, at the line that asked."""
    (tmp_path / "one.obj").write_text("mtllib red.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.warns(raystream.ViewerWarning, match="red") as told:
        scene = raystream.load(tmp_path / "one.obj")
    assert [str(each.message) for each in told] == scene.warnings
    assert {each.filename for each in told} == {__file__}
    with pytest.warns(raystream.ViewerWarning, match="red"):
        raystream.Renderer(tmp_path / "one.obj", program="cast", device=device)
    with pytest.warns(raystream.ViewerWarning, match="taken as sRGB of 0 to 255"):
        raystream.render((*TRIANGLE, np.full((3, 3), 200.0)), program="cast", size=4)
    with pytest.warns(raystream.ViewerWarning, match="^program cast makes no use of light_samples=$") as told:
        raystream.Renderer(scene, program="cast", light_samples=3)
    assert [each.filename for each in told] == [__file__]
    dim = raystream.Light("point", "dim", (0, 0, 1), intensity=np.full(3, 1e-9))
    scene = raystream.load(TRIANGLE).with_parts(lights=[dim])
    with pytest.warns(raystream.ViewerWarning, match="^the picture is .* environment='sky' adds light"):
        raystream.render(scene, size=8, **SMALL)
