"""The panels as text (`drawing`): in every state that they know, what they show, where, in which inks, and what each of
their widgets asks for, held to what it was when it was last looked at: the files in drawn/."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

imgui_bundle = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
imgui = imgui_bundle.imgui

from drawing import Notes, Sheet, compare, plain, watched  # noqa: E402  # imports imgui
from panel_stage import Stage  # noqa: E402

import viewer  # noqa: E402
from viewer.options.named_values import PolicyChoice  # noqa: E402
from viewer.scene.animation import Animation, Track  # noqa: E402
from viewer.scene.environment import ImageEnvironment  # noqa: E402


@pytest.fixture
def notes(panel_stage: Stage) -> Iterator[Notes]:
    """The window is drawn once, since fonts come with its first frame."""
    panel_stage.turn(1)
    with watched() as made:
        yield made


@pytest.fixture
def sheet(panel_stage: Stage, notes: Notes, request: pytest.FixtureRequest) -> Iterator[Sheet]:
    """Written down for the test that runs, under its name; the loader asks for nothing but notes it."""
    from viewer.window.panels.panels import draw_panels

    stage = panel_stage
    stage.scene_loader.set = lambda **changes: stage.asked.append(changes)
    stage.scene_loader.light_by = lambda name: stage.asked.append(f"light by {name}")
    made = Sheet(notes, stage.asked, partial(draw_panels, stage.context, stage.draw_imgui), partial(state, stage))
    yield made
    name = request.node.name.removeprefix("test_").replace("[", "_").replace("]", "")
    if made.lines and "llvmpipe" in stage.device.name:  # others count other passes
        compare(name, made.lines, request.config)


def state(stage: Stage) -> dict[str, Any]:
    """What widgets change by themselves."""
    view, controller, markers, editing = stage.view, stage.view.controller, stage.markers, stage.editing
    found = {name: getattr(view, name) for name in ("exposure", "tonemap", "message")}
    found |= {"stop": (stage.session.stop.spp, stage.session.stop.error)}
    found |= {"markers": (markers.chosen, markers.visible)}
    found |= {"turning": editing.turning}
    found |= {name: getattr(editing.player, name) for name in ("playing", "seconds", "loop", "speed")}
    found |= {"camera": stage.scene_loader.camera_number}
    if controller is not None:
        camera = controller.camera
        found |= {"mode": controller.mode, "speed": controller.speed}
        found |= {name: getattr(camera, name) for name in ("origin", "fov", "aperture", "focus")}
    return {name: plain(value) for name, value in found.items()}


def use_scene(stage: Stage, scene: Any, **settings: Any) -> None:
    stage.session.use(type(stage.renderer)(scene, device=stage.device, **settings))
    stage.scene_loader.requested = stage.renderer.settings
    shown = stage.session.convergence
    shown.complete, shown.converged, shown.samples = True, True, 1
    stage.markers.forget()


@pytest.fixture
def section(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Show one section of the side panel alone, open."""
    from viewer.window.panels import panels

    every = {title: draw for title, draw, _ in panels.SECTIONS}

    def chosen(title: str) -> None:
        monkeypatch.setattr(panels, "SECTIONS", ((title, every[title], True),))

    return chosen


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
    panel_stage.view.panels_visible = False
    for size in ((1280, 800), (220, 140), (219, 140), (220, 139), (740, 400), (739, 400)):
        panel_stage.view.message = "a note"
        sheet.show(f"closed, with a note {size}", size)
        panel_stage.view.message = ""
        sheet.show(f"closed {size}", size)
    panel_stage.view.help_visible = True
    sheet.show("closed, with help")
    panel_stage.view.help_visible, panel_stage.view.panels_visible, panel_stage.view.scale = False, True, 2.0
    sheet.show("dense")


def test_a_photon_map_opens_its_section(panel_stage: Stage, sheet: Sheet) -> None:
    """When the program comes, and no other section; closed by hand, it stays so."""
    sheet.show("cast", (1280, 2000))
    use_scene(panel_stage, viewer.load("ring"), program="photon")
    sheet.show("photon", (1280, 2000))
    box = next(box for kind, text, box in sheet.notes.widgets if text == "Photons")
    for down in (False, True, False):
        sheet.frame((box[0] + 9, box[1] + 9), down)
    sheet.show("closed", (1280, 2000))


def test_style(panel_stage: Stage, sheet: Sheet) -> None:
    """Every size and colour, on a plain screen and on a dense one."""
    for scale in (1.0, 1.5):
        panel_stage.view.scale = scale
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
    panel_stage.view.exposure = 1.5
    shown.complete, shown.converged, shown.samples = True, False, 25
    session.stop_at(100, 0.0)
    sheet.show("25 of 100 samples")
    shown.complete = False
    sheet.show("incomplete")
    panel_stage.view.exposure = "auto"
    sheet.show("automatic")
    sheet.use()


def test_camera_with_a_lens(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    section("Camera")
    scene = viewer.load("cornell")
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
    from viewer.scene.light import Light

    section("Lights")
    panel_stage.editing.place_light = lambda light, at: panel_stage.asked.append((light.name, plain(at)))
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
    scene = panel_stage.renderer.scene
    scene.animations = moves[:1]
    sheet.show("one animation")
    sheet.use()
    scene.animations = moves
    sheet.show("two")
    panel_stage.editing.player.playing = panel_stage.editing.turning = True
    sheet.show("playing and turning")
    sheet.use()
    sheet.show("in a narrow window", (500, 400))


def test_scenes(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """Quadrics, variants, warnings, and files opened before."""
    section("Scene")
    scene = viewer.load("cornell")
    scene = replace(scene, warnings=[f"warning {k}" for k in range(12)], variants={"warm": {}, "cold": {}})
    use_scene(panel_stage, scene, program="cast")
    panel_stage.view.path = "/folder/cornell.glb"
    panel_stage.view.preferences.recent = ["/folder/a.ply", "/folder/b.glb"]
    panel_stage.editing.show_variant = lambda name: panel_stage.asked.append(f"variant {name}")
    sheet.show("twelve warnings")
    sheet.use()
    scene.warnings.append("one more")
    panel_stage.view.preferences.recent = []
    sheet.show("thirteen warnings, and nothing opened before")
    use_scene(panel_stage, viewer.load("ring"), program="cast")
    sheet.show("quadrics")


@pytest.mark.parametrize("program", ["path", "photon", "whitted"])
def test_options(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None], program: str) -> None:
    """All that a program has to decide."""
    use_scene(panel_stage, viewer.load("cornell"), program=program)
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
    panel_stage.debug_views.heat, panel_stage.view.wires = "steps", True
    sheet.show("heat and boxes on")


def test_overlays(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """The status line, messages, progress, statistics, hint and help, alone and together."""
    section("Lights")
    view, loader = panel_stage.view, panel_stage.scene_loader
    long = "a message that is so long that it has to be broken into several lines, since none may be longer " * 2
    states: list[tuple[str, dict[str, Any]]] = [
        ("a note", {"message": "a note"}),
        ("an error", {"message": "an error", "message_is_error": True}),
        ("a long error", {"message": long, "message_is_error": True}),
        ("loading", {"loading": ("building a-very-long-name-of-a-scene-that-does-not-fit-into-the-line.glb", None)}),
        ("loading half", {"loading": ("building", 0.5), "message": "a note", "compiling": "path"}),
        ("statistics", {"stats_visible": True}),
        ("statistics and a note", {"stats_visible": True, "message": long}),
        ("help", {"help_visible": True}),
        ("paused", {"paused": True}),
    ]
    for panels in (True, False):
        view.panels_visible = panels
        for title, changes in states:
            if panels and title == "help":
                continue  # it lies over them
            with pytest.MonkeyPatch.context() as patch:
                for name, value in changes.items():
                    patch.setattr(loader if name == "loading" else view, name, value)
                for size in ((1280, 800), (700, 400) if "and" in title else (400, 300)):
                    sheet.show(f"{title}, {'with' if panels else 'no'} panels {size}", size)


def test_status(panel_stage: Stage, sheet: Sheet) -> None:
    """The parts of the line; those without room are left out, and in a narrow window the line."""
    from viewer.window.panels.overlay import status

    session = panel_stage.session
    panel_stage.renderer.update(machine="multipass", policy="most-work", fuse="ray")
    session.convergence.samples = 2000
    session.scheduler.rate = 2.5e6
    panel_stage.view.paused, panel_stage.debug_views.heat = True, None
    sheet.lines.append(" | ".join(status(panel_stage.context)))
    for wide in (1280, 800, 600, 400, 320, 319):
        sheet.show(f"{wide} wide", (wide, 300))
    panel_stage.view.panels_visible = False
    for size in ((40, 40), (39, 40), (40, 39)):
        panel_stage.view.message = "x"
        sheet.show(f"{size}", size)
    panel_stage.session.leave()
    sheet.lines.append(" | ".join(status(panel_stage.context)))


def test_hints(panel_stage: Stage, sheet: Sheet) -> None:
    panel_stage.view.preferences.hint = True
    for panels in (True, False):
        panel_stage.view.panels_visible = panels
        sheet.show(f"hint, panels {panels}", (900, 400))
    panel_stage.view.help_visible = True
    sheet.show("behind help", (900, 400))
    panel_stage.view.help_visible, panel_stage.view.panels_visible = False, True
    sheet.show("narrow", (400, 400))


def test_stream_inspector(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """Before its first pass, under way, at its end; with the mouse on its picture and its plot."""
    from viewer.viewport.studies.inspector import Inspector
    from viewer.window.panels import inspector as panel

    section("Lights")
    inspector = panel_stage.debug_views.inspector = Inspector(panel_stage.renderer, size=(24, 16))
    panel._view.channel = "state"  # the one that was last on show stays
    whole = inspector.totals

    def totals() -> Any:
        found = whole()
        timed = {name: {**row, "seconds": 0.001 * row["calls"]} for name, row in found.per_state.items()}
        return replace(found, per_state=timed)

    def exact() -> None:
        inspector.passes[:] = [replace(served, seconds=0.00125 * served.number) for served in inspector.passes]

    inspector.totals = totals
    inspector.begin(panel_stage.view.controller.camera)
    sheet.show("no pass yet")
    for _ in range(5):
        inspector.step()
    exact()
    sheet.show("five passes")
    sheet.use()
    picture = next(line for line in sheet.lines if line.startswith("  image"))
    left, top, right, bottom = (int(n) for pair in picture.split(" at ")[1].split(" to ") for n in pair.split(","))
    for place, channel in enumerate(("state", "return", "steps", "hit.t", "hit.triangle", "ray.direction")):
        panel._view.channel = channel
        across, down = ((0.01, 0.02), (0.5, 0.5), (0.99, 0.98))[place % 3]
        sheet.show(channel, mouse=(left + across * (right - left), top + down * (bottom - top)))
    panel._view.channel = "gone"
    inspector.run_to_end()
    exact()
    sheet.show("complete")
    for across in (1020, 1100, 1180, 1240):
        sheet.show("a pass", mouse=(across, 560))
    sheet.show("narrow", (320, 300))
    sheet.show("low", (900, 300))


def test_pixel_probe(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    from viewer.viewport.studies.probe import probe

    section("Lights")
    for pixel in ((32, 20), (0, 39)):
        panel_stage.debug_views.probe = probe(panel_stage.renderer, panel_stage.view.controller.camera, (64, 40), pixel)
        sheet.show(f"probe {pixel}")
    sheet.show("narrow", (400, 300))
    sheet.show("low", (1000, 200))


def test_in_space(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """Boxes, a probed ray, markers and the heat map with its legend, behind and beside the panels."""
    from viewer.scene.light import Light
    from viewer.viewport.studies.heat import Heat
    from viewer.viewport.studies.probe import probe
    from viewer.window.panels.panels import draw_panels
    from viewer.window.panels.space import Space

    section("Lights")
    space = Space(panel_stage.draw_imgui)

    def draw() -> None:
        space.draw(panel_stage.context)
        draw_panels(panel_stage.context, panel_stage.draw_imgui)

    sheet.draw = draw
    lights = [Light("point", name="lamp", position=(0.5, 0.2, 0.3)), Light("point", name="other")]
    use_scene(panel_stage, replace(panel_stage.renderer.scene, lights=lights), program="cast")
    panel_stage.view.left = 10.0
    panel_stage.markers.visible, panel_stage.markers.chosen = True, (False, 0)
    sheet.show("markers")
    panel_stage.markers.visible, panel_stage.view.wires = False, True
    sheet.show("boxes")
    panel_stage.view.wires = False
    camera = panel_stage.view.controller.camera
    heat = panel_stage.debug_views.heat_map = Heat(panel_stage.renderer, camera, (64, 40), "steps")
    panel_stage.debug_views.heat = "steps"
    heat.advance()
    for size in ((1280, 800), (700, 400), (400, 300)):
        sheet.show(f"heat {size}", size)
    panel_stage.debug_views.probe = probe(panel_stage.renderer, camera, (64, 40), (32, 20))
    for size in ((1280, 800), (1000, 300), (400, 300)):
        sheet.show(f"heat and probe {size}", size)
    panel_stage.view.panels_visible = False
    sheet.show("heat and probe, no panels")
    panel_stage.debug_views.probe = None
    sheet.show("heat, no panels", (400, 300))
    # The legend's middle is at 640, its lower end at 766: above what covers it there, or below, where that is higher.
    panels_over = [(200, 700, 1000, 790), (200, 700, 400, 790), (900, 700, 1000, 790), (200, 600, 1000, 700)]
    panels_over += [
        (200, 40, 1000, 700),
        (200, 600, 1000, 730),
        (200, 40, 1000, 790),
        (200, 40, 1000, 600),
        (0, 770, 1280, 790),
    ]
    for over in panels_over:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("viewer.window.panels.space.covered", lambda context, over=over: over)
            sheet.show(f"a panel at {over}")


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that are read at once, whatever there is on the disk."""
    from viewer.viewport.folder import Entry, Folder
    from viewer.window.panels import file_list

    many = tuple(Entry(f"{k:03}.ply", False, 1000 * k, "2020-01-02 03:04") for k in range(40))
    known = {
        "/data/scenes": (Entry("more", True, 0, "2021-02-03 04:05"), Entry("a.ply", False, 1536, "2022-03-04 05:06")),
        "/data/scenes/more": many,
        "/data": (Entry("scenes", True, 0, "2021-02-03 04:05"),),
        "/data/empty": (),
    }

    def read(path: Path) -> Folder:
        found = known.get(str(path))
        return Folder(path, found) if found is not None else Folder(path, fault=f"{path}: gone")

    class Thread:
        def __init__(self, target: Callable[[], None], **_: Any) -> None:
            self.start = target

    monkeypatch.setattr(file_list, "read_folder", read)
    monkeypatch.setattr(file_list.threading, "Thread", Thread)
    monkeypatch.setattr(file_list, "start_folder", lambda path, recent: Path("/data/scenes"))
    monkeypatch.setenv("HOME", "/home/user")


@pytest.mark.parametrize(
    ("key", "start", "path", "row"),
    [
        ("enter", "/data/scenes", "/data/scenes/more", 0),
        ("keypad_enter", "/data/scenes", "/data/scenes/more", 0),
        ("backspace", "/data/scenes/more", "/data/scenes", 0),
        ("down_arrow", "/data/scenes/more", "/data/scenes/more", 16),
        ("page_down", "/data/scenes/more", "/data/scenes/more", 39),
    ],
)
@pytest.mark.usefixtures("folders")
def test_a_key_that_is_held(panel_stage: Stage, sheet: Sheet, key: str, start: str, path: str, row: int) -> None:
    """In the list of files: arrows go on, one folder is entered or left. Afterwards another press counts."""
    from viewer.window.panels.file_list import FileList

    panel_stage.scene_loader.open_file = lambda path: panel_stage.asked.append(path)
    sheet.draw = (found := FileList(panel_stage.context, lambda: None)).draw
    found.show()
    found._enter(Path(start))
    sheet.frame()
    panel_stage.asked.clear()
    for down, frames in ((True, 60), (False, 1)):
        imgui.get_io().add_key_event(imgui.Key[key], down)
        for _ in range(frames):
            sheet.frame()
    assert (str(found._path), found._row) == (path, row)
    assert not any(each for each in panel_stage.asked if each.endswith("ply"))


@pytest.mark.usefixtures("folders")
def test_files(panel_stage: Stage, sheet: Sheet) -> None:
    """The list, by keys and by the mouse; of folders that are empty, cannot be read, or are still being read."""
    from viewer.window.panels import file_list

    opened: list[Any] = panel_stage.asked
    panel_stage.scene_loader.open_file = lambda path: opened.append(f"open {path}")
    panel_stage.scene_loader.cancel = lambda: opened.append("cancel") or False
    panel_stage.view.path, panel_stage.view.panels_visible = "/data/scenes/a.ply", False
    found = file_list.FileList(panel_stage.context, lambda: opened.append("woken"))

    def draw() -> None:
        from viewer.window.panels.panels import draw_panels

        draw_panels(panel_stage.context, panel_stage.draw_imgui)
        found.draw()

    def key(name: str) -> None:
        io = imgui.get_io()
        for down in (True, False):
            io.add_key_event(imgui.Key[name], down)
            sheet.frame()

    def tell(title: str, **where: Any) -> None:
        panel_stage.scene_loader.loading = ("loading", None) if found._opening else None
        sheet.show(title, **where)
        panel_stage.scene_loader.loading = None
        chosen = found._rows[found._row].name if found._rows else None
        sheet.lines.append(f"= {found._path} {found._text!r} {found.visible} {found._row} {chosen} {opened}")
        opened.clear()

    sheet.draw = draw
    tell("closed")
    found.show()
    tell("shown, on the scene's file")
    key("up_arrow")
    tell("one up")
    key("up_arrow")
    tell("one more is none")
    key("enter")
    tell("into the folder")
    for name in ("page_down", "page_down", "page_up", "down_arrow"):
        key(name)
    tell("25 - 12 + 1 down")
    for _ in range(6):
        key("page_down")
    tell("the last")
    tell("narrow, without dates", size=(400, 300))
    tell("very narrow", size=(200, 200))
    panel_stage.view.message = "a note above"
    tell("a note above")
    panel_stage.view.panels_visible = True
    tell("a note below", size=(400, 300))
    panel_stage.view.panels_visible, panel_stage.view.message = False, ""
    io = imgui.get_io()
    for letter in "00":
        io.add_input_character(ord(letter))
        sheet.frame()
    tell("filtered")
    io.add_input_character(ord("x"))
    tell("no such name")
    for _ in range(3):
        key("backspace")
    tell("all again")
    key("backspace")
    tell("back, on the folder that was left")
    key("backspace")
    tell("above, on the folder")
    found._enter(Path("/data/scenes/more"), "035.ply")
    tell("far down, on a name")
    found._enter(Path("/data/empty"))
    tell("empty")
    found._enter(Path("/data/none"))
    tell("unreadable")
    found._path = Path("/data/other")
    tell("still being read")
    found._enter(Path("/data/scenes"), "a.ply")
    tell("again")
    sheet.use()
    found._enter(Path("/data/scenes"), "a.ply")
    key("enter")
    tell("the file is opened")
    found._opening, found.visible = False, True
    key("escape")
    tell("closed by its key")
