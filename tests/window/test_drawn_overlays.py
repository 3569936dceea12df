"""Panels over the picture as text (`drawing`): the status line, notes, help, the inspector, the probe, legends and the
list of files, held to what they were when they were last looked at: the files in drawn/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

imgui_bundle = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")
imgui = imgui_bundle.imgui

from drawing import Sheet  # noqa: E402  # imports imgui
from panel_stage import Stage, use_scene  # noqa: E402

from raystream.renderer.renderer import Renderer  # noqa: E402
from raystream.viewport.viewport import Message  # noqa: E402


def test_overlays(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """The status line, messages, progress, statistics, hint and help, alone and together."""
    section("Lights")
    view = panel_stage.view
    long = "a message that is so long that it has to be broken into several lines, since none may be longer " * 2
    states: list[tuple[str, dict[str, Any]]] = [
        ("a note", {"message": Message("a note")}),
        ("an error", {"message": Message("an error", is_error=True)}),
        ("a long error", {"message": Message(long, is_error=True)}),
        ("loading", {"loading": ("building a-very-long-name-of-a-scene-that-does-not-fit-into-the-line.glb", None)}),
        ("loading half", {"loading": ("building", 0.5), "message": Message("a note"), "compiling": "path"}),
        ("statistics", {"statistics": True}),
        ("statistics and a note", {"statistics": True, "message": Message(long)}),
        ("help", {"help": True}),
        ("paused", {"paused": True}),
    ]
    for panels in (True, False):
        view.overlays.panels.on = panels
        for title, changes in states:
            if panels and title == "help":
                continue  # it lies over them
            with pytest.MonkeyPatch.context() as patch:
                for name, value in changes.items():
                    patch.setattr(*panel_stage.place(name), value)
                for size in ((1280, 800), (700, 400) if "and" in title else (400, 300)):
                    sheet.show(f"{title}, {'with' if panels else 'no'} panels {size}", size)


def test_status(panel_stage: Stage, sheet: Sheet) -> None:
    """The parts of the line; those without room are left out, and in a narrow window the line."""
    from raystream.window.panels.overlay import status

    session = panel_stage.session
    panel_stage.renderer.update(machine="multipass", policy="most-work", fuse="ray")
    session.convergence.samples = 2000
    session.scheduler.rate = 2.5e6
    panel_stage.view.paused, panel_stage.debug_views.heat = True, None
    sheet.lines.append(" | ".join(status(panel_stage.context)))
    for wide in (1280, 800, 600, 400, 320, 319):
        sheet.show(f"{wide} wide", (wide, 300))
    panel_stage.view.overlays.panels.on = False
    for size in ((40, 40), (39, 40), (40, 39)):
        panel_stage.view.message = Message("x")
        sheet.show(f"{size}", size)
    panel_stage.session.leave()
    sheet.lines.append(" | ".join(status(panel_stage.context)))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"complete": False, "samples": 0}, "sharpening"),
        ({"samples": 1}, "refining | 1 of 1 024 samples"),
        (
            {"samples": 256, "error": 0.02, "seconds": 30.0},
            "refining | 256 of 1 024 samples | noise 2 % | about 90 s left",
        ),
        ({"samples": 1024, "error": 0.01, "converged": True}, "complete | 1 024 samples | noise 1 %"),
        ({"samples": 1, "error": 0.0, "converged": True}, "complete | 1 sample | noise none"),
    ],
)
def test_what_the_status_line_tells(panel_stage: Stage, state: dict[str, Any], expected: str) -> None:
    """How far the picture is; nothing of programs, machines and passes, which the inspector tells."""
    from raystream.film.error import Stop
    from raystream.window.panels.debug_views import machine_text
    from raystream.window.panels.overlay import status

    convergence = panel_stage.session.convergence
    convergence.stop, convergence.complete, convergence.converged = Stop(1024), True, False
    convergence.film.take(convergence.film.blank(panel_stage.device, (4, 4)))
    for name, value in state.items():
        setattr(convergence, name, value)
    assert " | ".join(status(panel_stage.context)) == expected
    assert machine_text(panel_stage.context).startswith(f"{panel_stage.renderer.settings.program} by ")
    convergence.film.release()


def test_hints(panel_stage: Stage, sheet: Sheet) -> None:
    panel_stage.view.preferences.hint = True
    for panels in (True, False):
        panel_stage.view.overlays.panels.on = panels
        sheet.show(f"hint, panels {panels}", (900, 400))
    panel_stage.view.overlays.help.on = True
    sheet.show("behind help", (900, 400))
    panel_stage.view.overlays.help.on, panel_stage.view.overlays.panels.on = False, True
    sheet.show("narrow", (400, 400))


def test_stream_inspector(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """Before its first pass, under way, at its end; with the mouse on its picture and its plot."""
    from raystream.viewport.debug_views.inspector import Inspector
    from raystream.window.panels import debug_views as panel

    section("Lights")
    inspector = panel_stage.debug_views.inspector = Inspector(panel_stage.renderer, size=(24, 16))
    panel._view.channel = "state"  # the one that was last on show stays
    counted = inspector.per_state

    def per_state() -> Any:
        return {name: {**row, "seconds": 0.001 * row["calls"]} for name, row in counted().items()}

    def exact() -> None:
        inspector.passes[:] = [replace(served, seconds=0.00125 * served.number) for served in inspector.passes]

    inspector.per_state = per_state
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
    for across in (980, 1040, 1100, 1180):
        sheet.show("a pass", mouse=(across, 560))
    sheet.show("narrow", (320, 300))
    sheet.show("low", (900, 300))
    renderer = Renderer("cornell", device=panel_stage.renderer.device, program="cast", accel="grid")
    panel_stage.debug_views.inspector = Inspector(renderer, size=(24, 16))
    panel_stage.debug_views.inspector.begin(renderer.camera)
    sheet.show("beside the dissertation's")
    renderer.release()


def test_pixel_probe(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    from raystream.viewport.debug_views.probe import probe

    section("Lights")
    for pixel in ((32, 20), (0, 39)):
        panel_stage.debug_views.probe = probe(panel_stage.renderer, panel_stage.view.controller.camera, (64, 40), pixel)
        sheet.show(f"probe {pixel}")
    sheet.show("narrow", (400, 300))
    sheet.show("low", (1000, 200))


def test_in_space(panel_stage: Stage, sheet: Sheet, section: Callable[[str], None]) -> None:
    """Boxes, a probed ray, markers and the heat map with its legend, behind and beside the panels."""
    from raystream.scene.light import Light
    from raystream.viewport.debug_views.debug_views import Heat
    from raystream.viewport.debug_views.probe import probe
    from raystream.window.panels.debug_views import Space
    from raystream.window.panels.panels import draw_panels

    section("Lights")
    space = Space(panel_stage.draw_imgui)

    def draw() -> None:
        space.draw(panel_stage.context)
        draw_panels(panel_stage.context, panel_stage.draw_imgui)

    sheet.draw = draw
    lights = [Light("point", name="lamp", position=(0.5, 0.2, 0.3)), Light("point", name="other")]
    use_scene(panel_stage, replace(panel_stage.renderer.scene, lights=lights), program="cast")
    panel_stage.markers.visible, panel_stage.markers.chosen = True, (False, 0)
    sheet.show("markers")
    panel_stage.markers.visible, panel_stage.view.overlays.boxes.on = False, True
    sheet.show("boxes")
    panel_stage.view.overlays.boxes.on = False
    camera = panel_stage.view.controller.camera
    heat = panel_stage.debug_views.heat_map = Heat(panel_stage.renderer, camera, (64, 40), "steps")
    panel_stage.debug_views.heat = "steps"
    heat.advance()
    for size in ((1280, 800), (700, 400), (400, 300)):
        sheet.show(f"heat {size}", size)
    panel_stage.debug_views.probe = probe(panel_stage.renderer, camera, (64, 40), (32, 20))
    for size in ((1280, 800), (1000, 300), (400, 300)):
        sheet.show(f"heat and probe {size}", size)
    panel_stage.view.overlays.panels.on = False
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
            patch.setattr("raystream.window.panels.debug_views.covered", lambda context, over=over: over)
            sheet.show(f"a panel at {over}")


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that are read at once, whatever there is on the disk."""
    from raystream.viewport.folder import Entry, Folder
    from raystream.window.panels import file_list

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
    from raystream.window.panels.file_list import FileList

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
    from raystream.window.panels import file_list

    opened: list[Any] = panel_stage.asked
    panel_stage.scene_loader.open_file = lambda path: opened.append(f"open {path}")
    panel_stage.scene_loader.cancel = lambda: opened.append("cancel") or False
    panel_stage.scene_loader.shown_path, panel_stage.view.overlays.panels.on = "/data/scenes/a.ply", False
    found = file_list.FileList(panel_stage.context, lambda: opened.append("woken"))

    def draw() -> None:
        from raystream.window.panels.panels import draw_panels

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
    panel_stage.view.message = Message("a note above")
    tell("a note above")
    panel_stage.view.overlays.panels.on = True
    tell("a note below", size=(400, 300))
    panel_stage.view.overlays.panels.on, panel_stage.view.message = False, Message()
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
