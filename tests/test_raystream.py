"""``import raystream``: the public name of all that ``viewer/__init__.pyi`` lists, and the command by ``-m``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream.base.version import __version__
from raystream.cli import main as cli
from raystream.options.table import OPTIONS, SYNONYMS

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


def test_the_command_by_its_module():
    assert python("-m", "raystream", "--version") == f"raystream {__version__}\n"
    assert python("-m", "raystream", "--help").startswith("usage: raystream COMMAND")


@pytest.mark.slow
def test_editors_know_the_names(tmp_path, monkeypatch):
    """As a checker of types reads them: without running anything."""
    api = pytest.importorskip("mypy.api")
    code = """
import raystream
reveal_type(raystream.Camera.framing)
settings = raystream.Settings(machine='singlepass')
settings.fues
settings.replace(fues='ray')
raystream.Renderer('cornell', dept=3)
raystream.render('cornell').save(1)
raystream.rendr
import raystream.pyrender as pyrender
from raystream.pyrender.camera import IntrinsicsCamera
from raystream.pyrender.constants import RenderFlags
reveal_type(pyrender.Mesh.from_points)
pyrender.Sceen
scene, renderer = pyrender.Scene(), pyrender.OffscreenRenderer(4, 4, point_size=1.0)
node = scene.add(IntrinsicsCamera(1, 1, 1, 1), 'camera')
scene.bg_color = [0, 0, 0]
reveal_type(node.light)
reveal_type(pyrender.PointLight().intensity)
reveal_type(scene.bg_color)
reveal_type(renderer.render(scene, RenderFlags.DEPTH_ONLY))
reveal_type(renderer.render(scene)[1])
reveal_type(renderer.render(scene, flags=RenderFlags.RGBA)[0])
"""
    (tmp_path / "script.py").write_text(code)
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "raystream").symlink_to(ROOT / "viewer")
    monkeypatch.setenv("MYPYPATH", str(tmp_path / "types"))
    shared = ["--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={tmp_path / 'cache'}"]
    out, errors, _ = api.run([*shared, f"--config-file={ROOT / 'pyproject.toml'}", str(tmp_path / "script.py")])
    assert not errors
    assert "-> raystream.scene.camera.Camera" in out and 'incompatible type "int"' in out
    assert 'Module has no attribute "rendr"' in out
    assert '"Settings" has no attribute "fues"' in out
    assert 'Unexpected keyword argument "fues"' in out and 'Unexpected keyword argument "dept"' in out
    assert "-> raystream.pyrender.mesh.Mesh" in out and 'Module has no attribute "Sceen"' in out
    revealed = [line.partition("Revealed type is ")[2].strip('"') for line in out.splitlines() if "Revealed" in line][
        2:
    ]
    assert out.count(" error: ") == 6 and revealed[:2] == ["raystream.pyrender.light.Light | None", "float"]
    found = [re.findall("floating|unsignedinteger", each) for each in revealed[2:]]
    assert found == [["floating"], ["floating"], ["floating"], ["unsignedinteger"]]


def test_the_readme_speaks_of_it():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "import viewer" not in text and "import raystream" in text
    for script in (ROOT / "tools" / "examples").glob("[0-9]*.py"):
        assert "import raystream\n" in script.read_text() and "import viewer" not in script.read_text()


TRIANGLE = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
SMALL = {"spp": 1, "machine": "singlepass"}


def test_one_number_is_a_square(device):
    assert raystream.render("cornell", size=6, **SMALL).linear.shape == (6, 6, 3)


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


def test_other_renderers_words_are_no_options():
    words = [word for words in SYNONYMS.values() for word in words]
    assert len({*words}) == len(words) and not OPTIONS.keys() & {*words} and SYNONYMS.keys() <= OPTIONS.keys()


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


def test_load_takes_objects():
    trimesh = pytest.importorskip("trimesh")
    scene = raystream.load(trimesh.Scene({"box": trimesh.creation.box()}))
    assert scene.triangle_count == 12 and raystream.load(scene) is scene
    assert raystream.load(TRIANGLE, up="z").bounds().tolist() == [[-1, 0, -1], [1, 0, 1]]


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
