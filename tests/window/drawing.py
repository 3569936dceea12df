"""What ImGui draws, as text: every window and widget with its place and tooltip, every ink with what it covers, and
what each widget asks for when it is used. Of a window that is drawn again only the lines that it did not have before
are written, after their number in all."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from imgui_bundle import ImVec2, imgui

from tests.texts import hold

FOLDER = Path(__file__).with_name("drawn")
VERTEX = np.dtype([("place", "<f4", 2), ("at", "<f4", 2), ("ink", "<u4")])
TEXTS = ("text_unformatted", "text_disabled", "text_wrapped", "separator_text")
CLICKED = ("button", "selectable", "checkbox", "collapsing_header", "begin_combo")
DRAGGED = ("slider_float", "slider_int", "drag_float", "drag_float3")
TYPED = ("input_int", "input_text")
ITEMS = (*TEXTS, *CLICKED, *DRAGGED, *TYPED, "input_text_with_hint", "progress_bar", "image")
MOST_INKS = 30  # of a window, that are told one by one


class Notes:
    """Of the frame that is drawn: its lines, and widgets by what is written on them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.widgets: list[tuple[str, str, tuple[float, float, float, float]]] = []
        self._greyed: list[bool] = []
        self._tip = False

    def clear(self) -> None:
        self.lines, self.widgets = [], []

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """From now on every frame is written down, with tooltips as if the mouse were everywhere."""
        for name in ITEMS:
            self._watch_item(patch, name)
        for name, by in (("begin_disabled", 1), ("end_disabled", -1)):
            self._watch_grey(patch, name, by)
        begin, begin_table, column = imgui.begin, imgui.begin_table, imgui.table_setup_column
        colored, hovered = imgui.text_colored, imgui.is_item_hovered

        def begun(name: str, *rest: Any) -> Any:
            found = begin(name, *rest)
            at, size = imgui.get_window_pos(), imgui.get_window_size()
            self.lines.append(f"window {name} {_box(at.x, at.y, at.x + size.x, at.y + size.y)}")
            return found

        def tabled(name: str, columns: int, *rest: Any) -> Any:
            self.lines.append(f"table of {columns}")
            return begin_table(name, columns, *rest)

        def titled(name: str, *rest: Any) -> None:
            self.lines.append(f"column {name}")
            column(name, *rest)

        def over(flags: int = 0) -> bool:
            return True if flags & imgui.HoveredFlags_.for_tooltip else hovered(flags)

        def told(text: str) -> None:
            self.lines.append(f"    tip {text!r}")

        def told_colored(ink: Any, text: str) -> None:
            if self._tip:
                told(text)
            else:
                colored(ink, text)
                self._item("text_colored", text)

        def open_tip() -> bool:
            self._tip = True
            return True

        def close_tip() -> None:
            self._tip = False

        for name, function in (
            ("begin", begun),
            ("begin_table", tabled),
            ("table_setup_column", titled),
            ("is_item_hovered", over),
            ("text_colored", told_colored),
            ("begin_tooltip", open_tip),
            ("end_tooltip", close_tip),
            ("set_tooltip", told),
        ):
            patch.setattr(imgui, name, function)

    def _watch_item(self, patch: pytest.MonkeyPatch, name: str) -> None:
        whole = getattr(imgui, name)

        def noted(*given: Any) -> Any:
            text = str(given[0]) if isinstance(given[0], str) else ""
            if self._tip:
                self.lines.append(f"    tip {text!r}")
                return None
            result = whole(*given)
            shown = "".join(f" {each!r}" for each in given[1:] if isinstance(each, str | int | float | list))
            if name == "progress_bar":
                shown = f" {given[0]:.3f}" if given[0] >= 0 else " wanders"
            self._item(name, text, shown if name not in TEXTS and name not in CLICKED[:2] else "")
            return result

        patch.setattr(imgui, name, noted)

    def _watch_grey(self, patch: pytest.MonkeyPatch, name: str, by: int) -> None:
        whole = getattr(imgui, name)

        def noted(*given: Any) -> None:
            whole(*given)
            if by < 0:
                self._greyed.pop()
            else:
                self._greyed.append(bool(given[0]) if given else True)

        patch.setattr(imgui, name, noted)

    def _item(self, kind: str, text: str, shown: str = "") -> None:
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        box = (low.x, low.y, high.x, high.y)
        grey = " greyed" if any(self._greyed) else ""
        self.lines.append(f"  {kind} {text!r}{shown}{grey} {_box(*box)}")
        if kind in (*CLICKED, *DRAGGED, *TYPED):
            self.widgets.append((kind, text, box))


def _box(left: float, top: float, right: float, bottom: float) -> str:
    return f"at {round(left)},{round(top)} to {round(right)},{round(bottom)}"


def inks() -> list[str]:
    """Of each window as drawn: every colour (RRGGBBAA), how many vertices have it, and the box around them."""
    found = []
    for commands in imgui.get_draw_data().cmd_lists:
        buffer = commands.vtx_buffer
        held = (ctypes.c_uint8 * (buffer.size() * VERTEX.itemsize)).from_address(buffer.data_address())
        vertices = np.frombuffer(held, VERTEX)
        kinds = np.unique(vertices["ink"])
        found.append(f"drawn {commands._owner_name.partition('/')[0]}: {len(kinds)} inks")
        for kind in kinds[:MOST_INKS]:
            places = vertices["place"][vertices["ink"] == kind]
            low, high = places.min(axis=0), places.max(axis=0)
            ink = int(kind).to_bytes(4, "little").hex()
            found.append(f"  {ink} {len(places)} {_box(*low.tolist(), *high.tolist())}")
    return found


class Sheet:
    """Draws frames, and writes down what is drawn and asked for. draw : between `new_frame` and `render`. state : what
    widgets may change."""

    def __init__(self, notes: Notes, asked: list[Any], draw: Callable[[], None], state: Callable[[], dict]) -> None:
        self.notes, self.asked, self.draw, self.state = notes, asked, draw, state
        self.size = (1280, 800)
        self.lines: list[str] = []
        self._before: dict[str, list[str]] = {}  # by window: its lines as last written

    def frame(self, mouse: Any = None, down: bool = False) -> None:
        io = imgui.get_io()
        io.display_size, io.delta_time = ImVec2(*self.size), 1 / 60
        if mouse is not None:
            io.add_mouse_pos_event(*mouse)
            io.add_mouse_button_event(0, down)
        self.notes.clear()
        imgui.new_frame()
        self.draw()
        imgui.render()

    def show(self, title: str, size: tuple[int, int] = (1280, 800), mouse: Any = (-1000.0, -1000.0)) -> None:
        """Write down what is drawn."""
        self.size = size
        for _ in range(4):
            self.frame(mouse)
        self.lines.append(f"# {title}")
        blocks: dict[str, list[str]] = {}
        for line in (*self.notes.lines, *inks()):
            if line.startswith(("window ", "drawn ")):
                name = " ".join(line.split(" at ")[0].split(":")[0].split())
                blocks[name] = []
            elif not blocks:
                blocks[name := "before all windows"] = []
            blocks[name].append(line)
        for name, block in blocks.items():
            before = self._before.get(name, [])
            fresh = [line for line in block[1:] if line not in before]
            self.lines += [f"{block[0]} ({len(block) - 1} lines)", *fresh]
            self._before[name] = block

    def use(self) -> None:
        """Use each widget once, and write down what comes of it."""
        self.lines.append("# used")
        for kind, text, _ in [each for each in self.notes.widgets if each[0] != "collapsing_header"]:
            box = next((box for *name, box in self.notes.widgets if name == [kind, text]), None)
            if box is None:
                self.lines.append(f"{kind} {text!r}: gone")
                continue
            self.asked.clear()
            before, there = self.state(), len(self.notes.widgets)
            self._touch(kind, box)
            listed = [each for each in self.notes.widgets if each[0] == "selectable"]
            if kind in ("begin_combo", "button") and len(self.notes.widgets) > there and listed:
                self.lines.append(f"{kind} {text!r} lists {[name for _, name, _ in listed]}")
                self._touch("selectable", listed[min(1, len(listed) - 1)][2])
            changed = {name: value for name, value in self.state().items() if value != before[name]}
            self.lines.append(f"{kind} {text!r}: asks {_told(self.asked)}, changes {changed}")
            for _ in range(3):
                self.frame((-1000.0, -1000.0))

    def _touch(self, kind: str, box: tuple[float, float, float, float]) -> None:
        left, top, right, bottom = box
        y = (top + bottom) / 2
        start = end = (left + 0.4 * (right - left), y)
        if kind in DRAGGED:
            end = (left + 0.7 * (right - left), y)
        for mouse, down in ((start, False), (start, False), (start, True), (end, True), (end, False), (end, False)):
            self.frame(mouse, down)
        if kind in TYPED:
            io = imgui.get_io()
            for key in ("1", "2"):
                io.add_input_character(ord(key))
                self.frame()
            for down in (True, False):
                io.add_key_event(imgui.Key.enter, down)
                self.frame()


def _told(asked: list[Any]) -> list[Any]:
    return [{name: plain(value) for name, value in each.items()} if isinstance(each, dict) else each for each in asked]


def plain(value: Any) -> Any:
    """Numbers to four digits."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple | list):
        return tuple(plain(each) for each in value)
    return value if isinstance(value, str | int | None) else str(value)


def state(stage: Any) -> dict[str, Any]:
    """What widgets of a `panel_stage` change by themselves."""
    view, controller, markers, editing = stage.view, stage.view.controller, stage.markers, stage.editing
    found = {"exposure": view.tone.exposure, "tonemap": view.tone.tonemap, "message": view.message.text}
    found |= {"stop": (stage.session.stop.spp, stage.session.stop.error)}
    found |= {"markers": (markers.chosen, markers.visible)}
    found |= {"turning": editing.turning}
    found |= {name: getattr(editing.animation.player, name) for name in ("playing", "seconds", "loop", "speed")}
    found |= {"camera": stage.scene_loader.camera_index}
    if controller is not None:
        camera = controller.camera
        found |= {"mode": controller.mode, "speed": controller.speed}
        found |= {name: getattr(camera, name) for name in ("origin", "fov", "aperture", "focus")}
    return {name: plain(value) for name, value in found.items()}


def same(now: str, then: str) -> bool:
    """Whether two lines are alike but for a unit of rounding in their places."""
    if now == then:
        return True
    parts = [re.split(r"(-?\d+),(-?\d+)", line) for line in (now, then)]
    if len(parts[0]) != len(parts[1]):
        return False
    for place, (first, second) in enumerate(zip(*parts, strict=True)):
        if first != second and (place % 3 == 0 or abs(int(first) - int(second)) > 1):
            return False
    return True


def compare(name: str, lines: list[str], config: pytest.Config) -> None:
    """Hold what was drawn to what it was, by the same ImGui."""
    file, version = FOLDER / f"{name}.txt", imgui.get_version()
    if config.getoption("--golden") != "record" and (then := file.read_text().partition("\n")[0]) != version:
        pytest.skip(f"drawn by ImGui {version}, recorded with {then}")
    hold(file, [version, *lines], config, same)


@contextmanager
def watched() -> Iterator[Notes]:
    with pytest.MonkeyPatch.context() as patch:
        notes = Notes()
        notes.watch(patch)
        yield notes
