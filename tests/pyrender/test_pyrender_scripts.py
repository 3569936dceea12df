"""Scripts as they are written for pyrender: its quickstart, its guides, its two examples, by raystream.pyrender. Models
are trimesh's own shapes in place of files that are not here."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import raystream.pyrender as pyrender

trimesh = pytest.importorskip("trimesh")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def window(monkeypatch):
    """What windows are opened with, in place of windows."""
    from raystream.window import opening

    opened = []
    monkeypatch.setattr(
        opening, "show_live", lambda scene, began, keys, full_screen, **options: opened.append((scene, options))
    )
    return opened


def textured(tall=0.2):
    """A cylinder with an image."""
    from PIL import Image

    mesh = trimesh.creation.cylinder(0.03, tall, sections=16)
    image = Image.fromarray(np.tile(np.array([[[200, 40, 40]], [[40, 200, 40]]], np.uint8), (4, 8, 1)))
    uv = mesh.vertices[:, [0, 2]] * 5
    mesh.visual = trimesh.visual.TextureVisuals(uv=uv, image=image)
    return mesh


def test_the_quickstart(window, offscreen):
    mesh = pyrender.Mesh.from_trimesh(textured())
    scene = pyrender.Scene()
    scene.add(mesh)
    pyrender.Viewer(scene, use_raymond_lighting=True)
    ((shown, options),) = window
    directions = np.array([light.direction for light in shown.lights])
    ahead = np.array(options["camera"].target) - options["camera"].origin
    np.testing.assert_allclose(directions @ ahead / np.linalg.norm(ahead), np.cos(np.pi / 6), rtol=1e-6)
    np.testing.assert_allclose(directions @ directions.T, 0.625 + 0.375 * np.eye(3), rtol=1e-6)  # at even azimuths
    assert not scene.light_nodes
    camera = pyrender.PerspectiveCamera(yfov=np.pi / 3.0, aspectRatio=1.0)
    s = np.sqrt(2) / 2
    pose = np.array([[0.0, -s, s, 0.3], [1.0, 0.0, 0.0, 0.0], [0.0, s, s, 0.35], [0.0, 0.0, 0.0, 1.0]])
    scene.add(camera, pose=pose)
    cone = {"innerConeAngle": np.pi / 16.0, "outerConeAngle": np.pi / 6.0}
    scene.add(pyrender.SpotLight(color=np.ones(3), intensity=3.0, **cone), pose=pose)
    color, depth = offscreen(40, 40).render(scene)
    seen = color[depth > 0]
    assert len(seen) > 20 and seen.max(axis=0)[2] < seen.max() and (color[depth == 0] == 255).mean() > 0.8


def test_the_guides():
    """Instances, materials, and what they do not take."""
    sphere = trimesh.creation.uv_sphere(radius=0.1)
    sphere.visual.vertex_colors = [1.0, 0.0, 0.0]
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, 0, 3] = 0, 1, 2
    mesh = pyrender.Mesh.from_trimesh(sphere, poses=poses)
    np.testing.assert_allclose(mesh.bounds, [[-0.1] * 3, [2.1, 0.1, 0.1]], atol=1e-3)
    with pytest.raises(ValueError, match=r"^poses have shape \(3, 3\), expected \(N, 4, 4\)$"):
        pyrender.Mesh.from_trimesh(sphere, poses=np.eye(3))
    gold = pyrender.MetallicRoughnessMaterial(baseColorFactor=[255, 200, 50], metallicFactor=1.0, roughnessFactor=0.2)
    mesh = pyrender.Mesh.from_trimesh([trimesh.creation.icosahedron(), trimesh.creation.cylinder(0.1, 1)], gold)
    assert len(mesh.primitives) == 2 and mesh.primitives[0].material is not gold
    faces = trimesh.creation.box()
    faces.visual.face_colors = np.full((12, 4), 90, np.uint8)
    with pytest.raises(ValueError, match=r"^colours of faces need smooth=False$"):
        pyrender.Mesh.from_trimesh(faces)
    for wrong, words in ((None, "not NoneType"), (trimesh.Scene(faces), "from_trimesh_scene")):
        with pytest.raises(TypeError, match=words):
            pyrender.Mesh.from_trimesh(wrong)
    whole = pyrender.Scene.from_trimesh_scene(trimesh.Scene(trimesh.creation.box()))
    np.testing.assert_allclose(whole.extents, 1)


class Application:
    """The part of a window's application that a script's viewer acts on."""

    def __init__(self):
        self.offered, self.closed = [], threading.Event()
        self.editing = SimpleNamespace(offer=self.offered.append)
        self.window = SimpleNamespace(close=self.closed.set, wake=lambda: None)


@pytest.fixture
def live(monkeypatch):
    """Applications in place of windows, each until it is closed, and the keys that they were given."""
    from raystream.window import opening

    made = []

    def show_live(scene, began, keys, full_screen, **options):
        made.append((Application(), keys, scene, full_screen))
        began(made[-1][0])
        assert made[-1][0].closed.wait(60)

    monkeypatch.setattr(opening, "show_live", show_live)
    return made


def test_a_window_in_a_thread(live):
    """It follows the scene, calls functions of keys in its own turn, and is closed from outside."""
    called = []
    scene = pyrender.Scene()
    node = scene.add(pyrender.Mesh.from_trimesh(trimesh.creation.box()))
    keys = {"k": (lambda *given, **named: called.append((given, named)), [1, 2], {"three": 3}), " ": called.append}
    viewer = pyrender.Viewer(
        scene,
        viewer_flags={"window_title": "Mine", "fullscreen": True, "refresh_rate": 50},
        registered_keys=keys,
        run_in_thread=True,
        use_direct_lighting=True,
    )
    ((application, pressed, shown, full_screen),) = live
    assert viewer.is_active and viewer.run_in_thread and full_screen and (shown.name, len(shown.lights)) == ("Mine", 1)
    assert application.period == pytest.approx(1 / 50) and set(pressed) == {"K", "Space"}
    application.each_turn()
    assert not application.offered and not called  # nothing has changed
    for change in (
        lambda: scene.set_pose(node, np.diag([2.0, 2, 2, 1])),
        lambda: scene.add(pyrender.PointLight()),
        lambda: scene.add(pyrender.Mesh.from_trimesh(trimesh.creation.icosphere())),
        lambda: setattr(node.mesh.primitives[0].material, "roughnessFactor", 0.1),
        lambda: setattr(node.mesh, "is_visible", False),
        lambda: viewer.viewer_flags.update(use_direct_lighting=False),
    ):
        change()
        before = len(application.offered)
        application.each_turn()
        application.each_turn()
        assert len(application.offered) == before + 1
    assert len(application.offered[-1].instances) == 1 and len(application.offered[-1].lights) == 1
    pressed["K"]()
    pressed["Space"]()
    assert not called
    application.each_turn()
    assert called == [((viewer, 1, 2), {"three": 3}), viewer]
    with viewer.render_lock:
        turned = threading.Thread(target=application.each_turn)
        turned.start()
        turned.join(0.05)
        assert turned.is_alive()
    turned.join()
    viewer.close_external()
    assert not viewer.is_active and len(scene.nodes) == 3


def test_materials_of_trimesh():
    """PBR and simple ones, by fields."""
    box = trimesh.creation.box()
    uv = np.zeros((8, 2))
    pbr = trimesh.visual.material.PBRMaterial(
        baseColorFactor=[255, 128, 0, 255], metallicFactor=0.5, roughnessFactor=0.25, emissiveFactor=[0, 0, 1]
    )
    box.visual = trimesh.visual.TextureVisuals(uv=uv, material=pbr)
    (made,) = (each.material for each in pyrender.Mesh.from_trimesh(box).primitives)
    assert (made.metallicFactor, made.roughnessFactor) == (0.5, 0.25)
    np.testing.assert_allclose(made.baseColorFactor, [1, 128 / 255, 0, 1], rtol=1e-6)
    np.testing.assert_allclose(made.emissiveFactor, [0, 0, 1])
    box.visual.material = trimesh.visual.material.SimpleMaterial(diffuse=[0, 255, 0, 255], Ns=16.0)
    (made,) = (each.material for each in pyrender.Mesh.from_trimesh(box).primitives)
    assert made.roughnessFactor == pytest.approx((2 / 18) ** 0.25) and made.baseColorFactor[1] == 1


def test_trimesh_is_asked_by_nobody():
    """The module itself needs no trimesh."""
    code = (
        "import sys; sys.modules['trimesh'] = None\n"
        "from raystream.pyrender import Mesh, Scene\nfrom raystream.pyrender.light import PointLight\n"
        "import raystream, raystream.pyrender as pyrender\n"
        "print(raystream.pyrender is pyrender and pyrender.PointLight is PointLight)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "True\n", done.stderr


def test_a_viewer_in_a_notebook_is_its_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the window's size and camera; also where it shall run in a thread, and once it is started by hand."""
    from raystream.pyrender import viewer as module

    calls: list[tuple[object, dict]] = []

    def show(scene: object, **options: object) -> str:
        calls.append((scene, options))
        return f"widget {len(calls)}"

    monkeypatch.setattr(module, "in_notebook", lambda: True)
    monkeypatch.setattr(module, "show", show)
    scene = pyrender.Scene()
    scene.add(pyrender.Mesh.from_trimesh(trimesh.creation.box()))
    viewers = [pyrender.Viewer(scene, viewport_size=(64, 48)), pyrender.Viewer(scene, run_in_thread=True)]
    later = pyrender.Viewer(scene, auto_start=False)
    assert later.widget is None and not later.is_active
    later.start()
    assert [each.widget for each in (*viewers, later)] == ["widget 1", "widget 2", "widget 3"]
    assert all(each.is_active for each in (*viewers, later))
    assert [options["size"] for _, options in calls] == [(64, 48), (640, 480), (640, 480)]
    assert all("camera" in options for _, options in calls)
