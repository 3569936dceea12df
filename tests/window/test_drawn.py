"""The side panel as text (`drawing`): in every state that its sections know, what they show, where, in which inks, and
what each of their widgets asks for, held to what it was when it was last looked at: the files in drawn/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

imgui_bundle = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
imgui = imgui_bundle.imgui

from drawing import Sheet, plain  # noqa: E402  # imports imgui
from panel_stage import Stage, use_scene  # noqa: E402

import raystream  # noqa: E402
from raystream.options.values import PolicyChoice  # noqa: E402
from raystream.scene.animation import Animation, Track  # noqa: E402
from raystream.scene.environment import ImageEnvironment  # noqa: E402
from raystream.viewport.viewport import Message  # noqa: E402

SECTIONS = ("Picture", "Camera", "Environment", "Lights", "Motion", "Scene", "Samples", "Photons", "Stream processor")
SECTIONS += ("Structure", "Look inside", "Statistics")


@pytest.mark.parametrize("title", SECTIONS)
def test_section(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None], title: str) -> None:
    """Of a scene under the ray caster, and of none."""
    section(title)
    sheet.show(title)
    sheet.use()
    panel_stage.session.leave()
    panel_stage.view.controller = None
    if title not in ("Structure",):
        sheet.show("without a scene")


def test_side_panel(panel_stage: Stage, sheet: Sheet) -> None:
    """All sections as they are at first, and open sections that are many."""
    sheet.show("as at first")
    sheet.show("narrow", (300, 400))
    sheet.show("the least window", (220, 140))
    sheet.show("too narrow", (219, 140))
    sheet.show("too low", (220, 139))
    panel_stage.view.overlays.panels.on = False
    for size in ((1280, 800), (220, 140), (219, 140), (220, 139), (740, 400), (739, 400)):
        panel_stage.view.message = Message("a note")
        sheet.show(f"closed, with a note {size}", size)
        panel_stage.view.message = Message()
        sheet.show(f"closed {size}", size)
    panel_stage.view.overlays.help.on = True
    sheet.show("closed, with help")
    panel_stage.view.overlays.help.on, panel_stage.view.overlays.panels.on = False, True
    panel_stage.view.area.scale = 2.0
    sheet.show("dense")


def test_a_photon_map_opens_its_section(panel_stage: Stage, sheet: Sheet) -> None:
    """When the program comes, and no other section; closed by hand, it stays so."""
    sheet.show("cast", (1280, 2000))
    use_scene(panel_stage, raystream.load("ring"), program="photon")
    sheet.show("photon", (1280, 2000))
    box = next(box for kind, text, box in sheet.notes.widgets if text == "Photons")
    for down in (False, True, False):
        sheet.frame((box[0] + 9, box[1] + 9), down)
    sheet.show("closed", (1280, 2000))


def test_style(panel_stage: Stage, sheet: Sheet) -> None:
    """Every size and colour, on a plain screen and on a dense one."""
    for scale in (1.0, 1.5):
        panel_stage.view.area.scale = scale
        panel_stage.turn(1)
        style = imgui.get_style()
        for name in sorted(name for name in dir(style) if not name.startswith("__")):
            value = getattr(style, name)
            if not callable(value) and "next_frame" not in name:
                shown = (value.x, value.y) if isinstance(value, imgui_bundle.ImVec2) else value
                sheet.lines.append(f"{scale} {name} {plain(shown)}")
    for ink in list(imgui.Col_)[:-1]:  # the last is their number
        sheet.lines.append(f"{ink.name} {[round(part, 4) for part in style.color_(ink)]}")


def test_picture_on_its_way(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """Progress of the picture, of samples, and none; by hand and automatic exposure."""
    section("Picture")
    session, shown = panel_stage.session, panel_stage.session.convergence
    panel_stage.view.tone.exposure = 1.5
    shown.complete, shown.converged, shown.samples = True, False, 25
    session.stop_at(100, 0.0)
    sheet.show("25 of 100 samples")
    shown.complete = False
    sheet.show("incomplete")
    panel_stage.view.tone.exposure = "auto"
    sheet.show("automatic")
    sheet.use()


def test_camera_with_a_lens(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    section("Camera")
    scene = raystream.load("cornell")
    use_scene(panel_stage, scene, program="path")
    panel_stage.view.take(replace(scene.cameras[1], aperture=0.02, focus=0.8))
    panel_stage.view.controller.speed = 0.25
    sheet.show("of the scene, with a lens")
    panel_stage.view.take(scene.cameras[2])
    sheet.show("the scene's third")
    sheet.use()
    panel_stage.view.controller.mode = "fly"
    sheet.show("flies")


def test_environments(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """The sky has a sun, a picture is turned."""
    section("Environment")
    cast = panel_stage.renderer
    panel_stage.editing.turn_environment = lambda degrees: panel_stage.asked.append(f"turn by {degrees:.4g}")
    use_scene(panel_stage, cast.scene, program="cast", environment="sky")
    sheet.show("sky")
    sheet.use()
    panel_stage.scene_loader.requested = panel_stage.renderer.settings.replace(
        sun=(30.0, -60.0), ground="auto", environment_rotation=20.0
    )
    sheet.show("sun asked for, with a ground")
    pixels = np.ones((2, 4, 3), np.float32)
    hall = ImageEnvironment(pixels, name="hall")
    use_scene(panel_stage, cast.scene, program="cast", environment=hall, environment_rotation=20.0)
    sheet.show("picture")
    sheet.use()


def test_lights(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    from raystream.scene.light import Light

    section("Lights")
    panel_stage.editing.move_light = lambda light, at: panel_stage.asked.append((light.name, plain(at)))
    panel_stage.editing.grab_light = lambda light: panel_stage.asked.append(f"grab {light.name}")
    lights = [Light("point", name="lamp", position=(0.5, 1.0, 2.0)), Light("directional", name="sun")]
    use_scene(panel_stage, replace(panel_stage.renderer.scene, lights=lights), program="cast")
    sheet.show("two lights")
    for number in (0, 1):
        panel_stage.markers.chosen = (False, number)
        sheet.show(f"light {number} is chosen")
        sheet.use()
    many = [Light("point", name=f"lamp {k}") for k in range(52)]
    use_scene(panel_stage, replace(panel_stage.renderer.scene, lights=many[:50]), program="cast")
    sheet.show("as many as are listed", (1280, 2400))
    use_scene(panel_stage, replace(panel_stage.renderer.scene, lights=many), program="cast")
    sheet.show("more than are listed", (1280, 2400))


def test_motion(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    section("Motion")
    track = Track(0, "translation", np.array([0.0, 4.0]), np.zeros((2, 3)))
    moves = [Animation(name, (track,)) for name in ("walk", "run")]
    scene = panel_stage.renderer.prepared.scene
    scene.animations = moves[:1]
    sheet.show("one animation")
    sheet.use()
    scene.animations = moves
    sheet.show("two")
    panel_stage.editing.animation.player.playing = panel_stage.editing.turning = True
    sheet.show("playing and turning")
    sheet.use()
    sheet.show("in a narrow window", (500, 400))


def test_scenes(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """Quadrics, variants, warnings, and files opened before."""
    section("Scene")
    scene = raystream.load("cornell")
    scene = replace(scene, warnings=[f"warning {k}" for k in range(12)], variants={"warm": {}, "cold": {}})
    use_scene(panel_stage, scene, program="cast")
    panel_stage.scene_loader.shown_path = "/folder/cornell.glb"
    panel_stage.view.preferences.recent = ["/folder/a.ply", "/folder/b.glb"]
    panel_stage.editing.show_variant = lambda name: panel_stage.asked.append(f"variant {name}")
    sheet.show("twelve warnings")
    sheet.use()
    panel_stage.renderer.prepared.scene.warnings.append("one more")
    panel_stage.view.preferences.recent = []
    sheet.show("thirteen warnings, and nothing opened before")
    use_scene(panel_stage, raystream.load("ring"), program="cast")
    sheet.show("quadrics")


@pytest.mark.parametrize("program", ["path", "photon", "whitted"])
def test_options(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None], program: str) -> None:
    """All that a program has to decide."""
    use_scene(panel_stage, raystream.load("cornell"), program=program)
    for title in ("Samples", "Photons", "Stream processor"):
        section(title)
        sheet.show(title, (1280, 1200))
        sheet.use()


def test_machine(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """The policies of the machine of many passes; what others decide is greyed."""
    section("Stream processor")
    for policy in ("threshold", "sweep"):
        panel_stage.renderer.update(machine="multipass", policy=PolicyChoice(policy, 0.25, "all"), unroll=4)
        sheet.show(policy)
        sheet.use()
    panel_stage.renderer.update(machine="singlepass")
    sheet.show("singlepass")


def test_looking_inside(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    section("Look inside")
    panel_stage.debug_views.heat, panel_stage.view.overlays.boxes.on = "steps", True
    sheet.show("heat and boxes on")


@pytest.mark.parametrize("size", [(1, 1), (40, 30), (230, 150), (400, 220), (700, 400), (7680, 4320)])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_any_window(panel_stage: Stage, size: tuple[int, int], scale: float) -> None:
    """However small or large, nothing leaves an OpenGL error behind."""
    panel_stage.view.area.scale = scale
    panel_stage.inspect()
    panel_stage.view.overlays.statistics.on, panel_stage.view.message = True, Message("word " * 60)
    panel_stage.scene_loader.loading = "loading a-long-name.glb", None
    for visible in (True, False):
        panel_stage.view.overlays.help.on = visible
        panel_stage.draw(2, size)
    assert panel_stage.draw_imgui.context.error == "GL_NO_ERROR"


def test_another_scale_and_back(panel_stage: Stage) -> None:
    """The style of a scale does not depend on the scales before."""

    def style() -> list[str]:
        found = imgui.get_style()
        names = [name for name in dir(found) if not name.startswith("__") and not callable(getattr(found, name))]
        return [str(getattr(found, name)) for name in names if "next_frame" not in name]

    panel_stage.draw()
    plain, atlas = style(), len(imgui.get_io().fonts.fonts)
    panel_stage.view.area.scale = 2.0
    panel_stage.draw()
    assert style() != plain
    panel_stage.view.area.scale = 1.0
    panel_stage.draw()
    assert style() == plain
    assert len(imgui.get_io().fonts.fonts) == atlas
