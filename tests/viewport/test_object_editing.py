"""What moves by itself, turn by turn, in closed form: animations and the turntable; and what follows the mouse."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.scene_diff import scene_changes
from raystream.renderer.inputs.settings import Settings
from raystream.scene.animation import Animation, Track
from raystream.scene.camera import Camera
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.hierarchy import Deformer, Hierarchy
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Scene
from raystream.viewport import editing as animation
from raystream.viewport.camera_controller import ORBIT
from raystream.viewport.editing import TURN_SECONDS, ObjectEditing
from raystream.viewport.viewport import PictureArea
from tests.viewport.editing_stage import FAR, HOME, Stage


class Held:
    """A camera in the hand that notes how it is turned."""

    def __init__(self) -> None:
        self.turned: list[tuple[float, float]] = []

    def orbit(self, dx: float, dy: float) -> None:
        self.turned.append((dx, dy))


def editing(duration: float = 2.0, levels: int = 2, structure: str = "two-level-bvh", triangles: int = 1) -> Any:
    """Of a scene that is traced all the while: nothing of it is posed meanwhile."""
    scene = SimpleNamespace(duration=duration, triangle_count=triangles)
    prepared = SimpleNamespace(scene=scene, structure=SimpleNamespace(levels=levels, name=structure))
    renderer = SimpleNamespace(prepared=prepared)
    session = SimpleNamespace(previewing=True)
    view: Any = SimpleNamespace(
        paused=False, area=PictureArea((8, 6)), scene=scene, renderer=renderer, session=session, controller=Held()
    )
    view.wake = lambda: None
    loader: Any = SimpleNamespace(requested=Settings())
    nothing: Any = None
    return ObjectEditing(view, loader, nothing, nothing)


def test_an_animation_begins_again_at_its_end() -> None:
    made = editing(duration=2.0)
    made.animation.player.playing = True
    times = []
    for _ in range(6):
        assert made.update(0.75)
        times.append(made.animation.player.seconds)
    assert times == [0.75, 1.5, 0.25, 1.0, 1.75, 0.5]


def test_the_turntable_goes_once_round_in_its_time() -> None:
    """Always the same way; not while nobody sees it."""
    made = editing()
    made.turning = True
    for _ in range(48):
        assert made.update(TURN_SECONDS / 48)
    turned = np.array(made.view.controller.turned)
    assert turned.shape == (48, 2) and not turned[:, 1].any() and (turned[:, 0] < 0).all()
    assert turned[:, 0].sum() * ORBIT == pytest.approx(-2 * np.pi, rel=1e-12)
    made.view.area.minimised = True
    made.update(1.0)
    assert len(made.view.controller.turned) == 48


# -- what follows the mouse, on the stage of editing_stage.py ----------------------------------------------------------


@pytest.fixture
def stage() -> Stage:
    return Stage()


class Glow:
    """Properties beside the nodes: the first material's metallic share, and the first camera's field of view."""

    def materials(self, values: Any) -> Any:
        return {0: Material(metallic=float(values["/m"][0]))}, {}

    def lights(self, values: Any, lights: list[Light], shown: Any) -> list[Light]:
        return lights

    def cameras(self, values: Any, cameras: list[Camera]) -> list[Camera]:
        return [replace(cameras[0], fov=50.0)]


def test_a_pose_deforms_meshes_and_changes_looks(stage: Stage) -> None:
    """Of the scene as it was edited: what was moved by hand stays there."""
    rest = replace(stage.first.meshes[0], normals=np.float32([[0, 0, 1]] * 3))
    target = MorphTarget(positions=np.float32([[0, 0, 1]] * 3))
    deformation = replace(Deformation.none(3), targets=(target,))
    nodes = Hierarchy.of([-1], [[0, 0, 0]], [-1] * 4)
    nodes = replace(nodes, deformers=(Deformer(0, 0, None, np.zeros(1)),))
    times, values = np.float32([0, 2]), np.float32([[0], [2]])
    tracks = (Track(0, "weights", times, values), Track(-1, "/m", times, values / 4))
    scene = stage.first.with_parts(
        meshes=[DeformedMesh(rest, deformation, MeshPose(weights=np.zeros(1)))],
        hierarchy=nodes,
        animations=[Animation("bend", tracks)],
        properties=Glow(),
        cameras=[Camera((0, 0, 5), (0, 0, 0))],
    )
    stage.renderer.prepared.scene = stage.view.scene = scene.moved(np.array([1]), np.diag([1.0, 1.0, 3.0, 1.0])[None])
    stage.editing.animation.seek_within(1.0)
    stage.editing.update(0.0)
    assert stage.scene.meshes[0].positions[:, 2].tolist() == [1, 1, 1]
    assert stage.scene.materials[0].metallic == 0.25 and stage.scene.materials[1] is scene.materials[1]
    assert stage.scene.cameras[0].fov == 50.0 and stage.scene.instances[1].transform[2, 2] == 3
    assert scene_changes(scene, stage.scene).posed == (0,)
    before = stage.scene
    stage.editing.animation.seek_within(1.0)
    stage.editing.update(0.0)
    assert stage.scene.meshes is before.meshes, "the same moment shares everything"


def test_nothing_to_grab(stage: Stage) -> None:
    stage.hit.instance[0] = -1
    stage.editing.grab()
    assert not stage.editing.grabbing and stage.said == ["nothing under the cursor to grab"]


def test_a_light_with_a_surface_moves_its_object(stage: Stage) -> None:
    panel = stage.markers.listed()[2]
    assert (panel.kind, panel.item_index, panel.position) == ("area", 3, (2.5, 0.5, 0.0))
    stage.view.input.cursor = (125, 45)
    stage.editing.grab_light(panel)
    assert stage.markers.chosen == (True, 3) and stage.said[-1].startswith("panel follows")
    stage.move(125, 55)
    assert stage.places() == [*HOME[:3], (2.0, -1.0, 0.0)]


def test_lights_are_put_somewhere(stage: Stage) -> None:
    bulb, sun, panel = stage.markers.listed()
    stage.editing.move_light(bulb, (4, 5, 6))
    assert stage.scene.lights[0].position == (4, 5, 6)
    stage.editing.move_light(sun, (1, 0, 0))
    assert stage.scene.lights[1].direction == (-1, 0, 0) and stage.scene.lights[0].position == (4, 5, 6)
    stage.editing.move_light(panel, (3.5, 2.5, -1.0))
    assert stage.places() == [*HOME[:3], (3.0, 2.0, -1.0)] and stage.done[-2:] == ["changed", "wake"]


def test_a_light_is_dragged_by_the_mouse_anywhere(stage: Stage) -> None:
    """The selected one, or the first; until the button is up."""
    editing = stage.editing
    editing.drag_light()
    assert stage.markers.visible and stage.markers.chosen == (False, 0)
    assert stage.said[-1] == (
        "bulb follows the mouse in the plane of the view; X, Y, Z choose an axis, releasing the button ends, Esc undoes"
    )
    stage.view.input.cursor = (110, 50)
    stage.done.clear()
    editing.follow()
    assert stage.done == ["wake"], "the loop draws it at its new place"
    editing.end_drag()
    assert not editing.grabbing and stage.scene.lights[0].position == pytest.approx((0, 1, 0))
    stage.markers.chosen = (True, 3)
    editing.drag_light()
    assert stage.said[-1].startswith("panel follows") and "releasing the button" in stage.said[-1]
    editing.end_drag()
    editing.grab()
    assert "click or Enter" in stage.said[-1]
    editing.drop()
    stage.first.lights, stage.markers.chosen = [], None
    stage.renderer.prepared.scene = stage.view.scene = Scene(stage.first.meshes, stage.first.instances[:2])
    with pytest.raises(ViewerError, match="has none of its own"):
        editing.drag_light()


def test_large_scenes_of_one_level_get_two_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked for comes once they are there; in another scene it does not."""
    monkeypatch.setattr(animation, "MAX_REBUILT", 0)
    stage = Stage(levels=1)
    editing = stage.editing
    for accel, kind in (("bvh", "two-level-bvh"), ("grid", "two-level-grid"), ("none", "two-level-bvh")):
        stage.loader.requested = Settings(accel=accel)
        editing.grab()
        assert stage.loader.asked.pop() == {"accel": kind} and not editing.grabbing
        assert stage.said[-1] == f"objects move under a structure of two levels: {kind} is built"
    editing.shown(False)
    editing.shown(True)
    assert not editing.grabbing
    editing.grab()
    stage.renderer.prepared.structure.levels = 2
    editing.shown(True)
    assert editing.grabbing
    editing.shown(True)
    assert not editing.grabbing, "what was held is of the scene before"


def test_a_camera_indoors_turns_about_what_it_sees(stage: Stage) -> None:
    stage.controller.set_camera(Camera((0, 0, 0.5), (0, 0, -7), fov=90.0, base=FAR))
    stage.hit.distance[0] = 1.25
    stage.editing.turn()
    np.testing.assert_allclose(stage.controller.camera.target, (0, 0, -0.75), atol=1e-12)
