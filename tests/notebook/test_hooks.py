"""How other libraries reach the renderer, and what ``raystream.show`` gives in a process."""

from __future__ import annotations

import html
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.notebook import show
from raystream.scene.mesh import Instance, Mesh

ROOT = Path(__file__).resolve().parents[2]
CORNERS, FACES = [[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]]


def test_trimesh_shows_by_it(monkeypatch):
    """``scene.show(viewer=raystream.show)``, with options."""
    trimesh = pytest.importorskip("trimesh")
    from raystream.window import opening

    opened = []
    monkeypatch.setattr(opening, "show", lambda scene, **options: opened.append((scene, options)))
    for shown in (trimesh.Scene(trimesh.creation.box()), trimesh.creation.box()):
        shown.show(viewer=raystream.show, environment="sky")
    assert len(opened) == 2 and [options for _, options in opened] == [{"environment": "sky"}] * 2
    assert raystream.load(opened[0][0]).triangle_count == 12


@pytest.fixture
def plotter():
    """What of a plotter is read, with a registry like PyVista's."""
    mesh = SimpleNamespace(
        points=np.array(CORNERS),
        regular_faces=np.array(FACES),
        n_cells=1,
        point_data={},
        cell_data={},
        active_scalars_name=None,
        is_all_triangles=True,
    )
    color = SimpleNamespace(float_rgb=(1.0, 0.5, 0.25))
    prop = SimpleNamespace(color=color, opacity=1.0, metallic=0.0, roughness=0.5, interpolation="Phong")
    actor = SimpleNamespace(mapper=SimpleNamespace(dataset=mesh), prop=prop, visibility=True, user_matrix=None)
    camera = SimpleNamespace(position=(0, 0, 4), focal_point=(0, 0, 0), up=(0, 1, 0), view_angle=40.0)
    return SimpleNamespace(actors={"mesh": actor}, camera=camera, window_size=[12, 8])


def test_plotters_have_it(plotter, monkeypatch, device):
    """By the module that the entry point names; the picture is that of the plotter itself."""
    made = {}
    pyvista = ModuleType("pyvista")
    pyvista.register_plotter_component = lambda name: lambda kind: made.setdefault(name, kind)
    monkeypatch.setitem(sys.modules, "pyvista", pyvista)
    monkeypatch.delitem(sys.modules, "raystream.notebook.plotter", raising=False)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    ((name, place),) = declared["pyvista.plotter_components"].items()
    assert name == "raystream"
    __import__(place)
    component = made[name](plotter)
    picture = component.render(spp=2, environment=(1, 1, 1))
    assert picture.linear.shape == (8, 12, 3)
    alone = raystream.render(plotter, size=(12, 8), spp=2, environment=(1, 1, 1))
    assert np.array_equal(picture.linear, alone.linear) and np.ptp(picture.linear[4, 6]) > 0
    assert component.render(size=4, spp=1, environment=(1, 1, 1)).linear.shape == (4, 4, 3)
    shown = []
    from raystream.notebook import show

    monkeypatch.setattr(show, "show", lambda given, **options: shown.append((given, options)))
    component.show(environment="sky")
    assert shown == [(plotter, {"environment": "sky"})]


def test_pyvista_itself_finds_it(tmp_path):
    """With the metadata of an installed wheel; a plotter without a screen."""
    pytest.importorskip("pyvista", minversion="0.48")
    info = tmp_path / "raystream-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: raystream\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[pyvista.plotter_components]\nraystream = raystream.notebook.plotter\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport pyvista\n"
        "plotter = pyvista.Plotter(off_screen=True)\nplotter.add_mesh(pyvista.Sphere(), color='red')\n"
        "picture = plotter.raystream.render(size=(16, 12), spp=1)\nprint(picture.linear.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "(12, 16, 3)\n", done.stderr


def test_cards_without_a_picture(monkeypatch):
    """Nothing to see, and nothing to see it with."""
    empty = raystream.Scene([Mesh(np.zeros((0, 3)), np.zeros((0, 3), int))], [Instance(0)])
    assert empty._repr_html_().startswith("<code>") and "img" not in empty._repr_html_()

    def fails(*_: object, **__: object) -> None:
        raise raystream.ViewerError("OpenGL", "is not there")

    monkeypatch.setattr("raystream.render", fails)
    scene = raystream.Scene.from_triangles(CORNERS, FACES)
    assert scene._repr_html_() == f"<code>{html.escape(repr(scene))}</code>"


pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")
pytest.importorskip("anywidget", reason="anywidget, of rendercanvas[notebook], is not installed")


def kernel(monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    """Pretend that IPython runs this."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shell", "found"), [(None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=object()), True)]
)
def test_where_it_runs(monkeypatch: pytest.MonkeyPatch, shell: Any, found: bool) -> None:
    """A plain Python with IPython loaded, its terminal, and a kernel."""
    kernel(monkeypatch, shell)
    assert show.in_notebook() is found


def test_spyder_shows_no_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "spyder_kernels", SimpleNamespace())  # type: ignore[arg-type]
    assert not show.in_notebook()


@pytest.mark.parametrize("running", [False, True])
def test_the_kernel_of_marimo(monkeypatch: pytest.MonkeyPatch, running: bool) -> None:
    """It is no IPython's; a script that imports marimo is no notebook."""
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(running_in_notebook=lambda: running))  # type: ignore[arg-type]
    assert show.in_notebook() is running


@pytest.mark.parametrize(
    ("missing", "listed"),
    [(("anywidget",), "anywidget"), (("rendercanvas",), "rendercanvas"), ((), "")],
)
def test_a_part_of_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], listed: str) -> None:
    from raystream.notebook import widget as module

    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    monkeypatch.setattr(show, "find_spec", lambda name: None if name in missing else object())
    monkeypatch.setattr(module, "Widget", lambda scene, **options: (scene, options))
    if missing:
        with pytest.raises(raystream.ViewerError) as fault:
            raystream.show("cornell", spp=3)
        assert str(fault.value) == f"notebook: the widget needs {listed} (%pip install 'raystream[notebook]')"
    else:
        assert raystream.show("cornell", spp=3) == ("cornell", {"spp": 3})


def test_elsewhere_it_is_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any part of the extra, and with the same options."""
    import raystream.window.opening as window

    opened: list[Any] = []
    monkeypatch.setattr(window, "show", lambda scene, **options: opened.append((scene, options)) or 3)
    monkeypatch.setattr(show, "in_notebook", lambda: False)
    monkeypatch.setattr(show, "find_spec", lambda name: None)
    assert raystream.show("cornell", spp=3, size=(8, 6)) is None
    assert opened == [("cornell", {"spp": 3, "size": (8, 6)})]
