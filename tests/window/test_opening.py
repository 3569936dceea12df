"""The window's start: what is loaded before it opens, and ImGui without the rest of its package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

imgui_bundle = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")

ROOT = Path(__file__).resolve().parents[2]


def told(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_imgui_comes_without_the_rest_of_its_package() -> None:
    script = "import sys\nimport raystream.window.bundle as ours\n"
    script += "print(*(n for n in ('asyncio', 'ssl', 'cffi', 'imgui_bundle', 'munch', 'PIL') if n in sys.modules))\n"
    script += "import imgui_bundle, cffi\n"
    script += "assert imgui_bundle.imgui is ours.imgui and imgui_bundle.implot is ours.implot\n"
    script += "assert imgui_bundle.ImVec2 is ours.ImVec2 and imgui_bundle.ImVec4 is ours.ImVec4\n"
    script += "assert str(ours.FOLDER) == list(imgui_bundle.__path__)[0] and imgui_bundle.hello_imgui"
    assert told(script) == []


def test_it_comes_after_the_whole_package_too() -> None:
    script = "import imgui_bundle\nimport raystream.window.bundle as ours\n"
    assert told(script + "print(imgui_bundle.imgui is ours.imgui, imgui_bundle.hello_imgui is not None)") == 2 * [
        "True"
    ]


def test_glfw_is_the_library_that_came_with_imgui(tmp_path: Path) -> None:
    """Which is not looked for, nor asked for its version in another process; one that a user names comes first."""
    script = "import os, raystream.window\nprint(os.environ['PYGLFW_LIBRARY'])\n"
    (library,) = told("import os\nos.environ.pop('PYGLFW_LIBRARY', None)\n" + script)
    assert Path(library).parent == Path(imgui_bundle.__file__).parent and Path(library).is_file()
    other = shutil.copy(library, tmp_path)
    assert told(f"import os\nos.environ['PYGLFW_LIBRARY'] = {other!r}\n" + script) == [other]


def test_the_window_opens_before_what_it_shows_is_loaded() -> None:
    script = "import sys, raystream.window.opening\n"
    names = (
        "raystream.window.app",
        "raystream.window.bundle",
        "raystream.renderer.renderer",
        "raystream.renderer.session.session",
    )
    assert told(script + f"print(*(name for name in {names} if name in sys.modules))") == []


def test_the_application_is_loaded_beside() -> None:
    """Without the panels, which a first picture does not wait for."""
    script = "import sys\nfrom raystream.base.start import load_beside\nload_beside('raystream.window.app').join()\n"
    script += "assert 'raystream.window.app' in sys.modules\n"
    assert told(script + "print(*(name for name in sys.modules if 'imgui' in name or 'bundle' in name))") == []


def test_a_first_picture_loads_no_libraries_but_for_its_loops() -> None:
    """Each takes a twentieth of the time until a picture is there: image files, masked arrays, a compiler."""
    script = "import sys\nimport numpy as np\nfrom raystream.formats import named\n"
    script += "from raystream.renderer.inputs.settings import Settings\nfrom raystream.scene.scene import Scene\n"
    script += "from raystream.viewport.scene_loader import Glance, prepare_in_worker\n"
    script += "corners = np.random.default_rng(1).random((3000, 3))\n"
    script += "of_file = Scene.from_triangles(corners, np.arange(3000).reshape(-1, 3))\n"
    script += "names = ('PIL', 'numba', 'numpy.ma')\n"
    script += "for scene, settings in ((named.load('cornell'), {}), (of_file, {'environment': 'sky'})):\n"
    script += "    Glance(scene, Settings(**settings))\n"
    script += "    prepare_in_worker(scene, lambda *_: None, Settings(**settings), pixels=1 << 16)\n"
    assert told(script + "print(*(name for name in names if name in sys.modules))") == []
