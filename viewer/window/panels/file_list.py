"""The list of files behind Ctrl+O where the desktop has no dialog of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raystream.base.errors import printable
from raystream.base.interrupts import UNWAITED
from raystream.viewport.folder import Entry, Folder, read_folder, start_folder
from raystream.viewport.host import ViewerHost
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels import theme
from raystream.window.panels.overlay import said_below, said_height
from raystream.window.panels.theme import color, units
from raystream.window.panels.widgets import button, grouped, memory, tip
from raystream.window.window import GROUND

SIZE = (620.0, 440.0)
MIN_DATED = 460.0  # a narrower list shows no dates
KEYS = "Enter opens, Backspace leads up, Esc closes"
PAGE = 12  # rows that a page key goes
ROWS = imgui.TableFlags_.scroll_y | imgui.TableFlags_.sizing_fixed_fit | imgui.TableFlags_.pad_outer_x
WHOLE_ROW = imgui.SelectableFlags_.span_all_columns | imgui.SelectableFlags_.allow_double_click


class FileList:
    """While it is visible the keyboard is its own. A folder is read once, by a thread: some answer late, or never.

    wake : called from that thread, ends the window's sleep.
    """

    def __init__(self, context: ViewerHost, wake: Callable[[], None]) -> None:
        self._context, self._wake = context, wake
        self.visible = False
        self._path = Path()
        self._read, self._shown = Folder(Path()), Folder(Path())
        self._text, self._write = "", False  # of the field; whether it is written into it, since it was not typed there
        self._active = False  # the field has the keyboard
        self._rows: list[Entry] = []
        self._row, self._scroll = 0, False  # chosen, and whether the list scrolls to it
        self._name = ""  # of the row to choose when the folder has been read
        self._opening = False  # the file that was chosen

    def show(self) -> None:
        """Open beside the scene on show."""
        path, recent = self._context.scene_loader.shown_path, self._context.view.preferences.recent
        self.visible, self._opening = True, False
        self._enter(start_folder(path, recent), os.path.basename(path))

    def draw(self) -> None:
        """Between `imgui.new_frame` and `imgui.render`, after the panels."""
        if not self.visible:
            return
        view, scene_loader = self._context.view, self._context.scene_loader
        if self._opening and scene_loader.loading is None:
            self._opening, self.visible = False, view.message.is_error
        if imgui.is_key_pressed(imgui.Key.escape, False):
            self._opening, self.visible = False, scene_loader.cancel()
            view.say("loading cancelled" if self.visible else "")
        if not self.visible:
            return
        if self._shown is not self._read:
            self._shown = self._read
            self._match()
        with theme.font("text"):
            self._window(imgui.get_io().display_size)

    # -- folders and files -----------------------------------------------------------------------------------------

    def _enter(self, path: Path, name: str = "", text: str = "") -> None:
        """Go to a folder, and to the row of that name in it."""
        self._path, self._name, self._text, self._write = path, name, text, True

        def read() -> None:
            folder = read_folder(path)
            if path == self._path:
                self._read = folder
                self._context.view.wake()
                self._wake()

        threading.Thread(target=read, name=UNWAITED, daemon=True).start()

    def _match(self) -> None:
        self._rows = self._shown.matching(self._text)
        named = (k for k, entry in enumerate(self._rows) if entry.name == self._name)
        self._row, self._scroll, self._name = next(named, 0), True, ""

    def _typed(self, text: str) -> None:
        """Folders that are written out are entered; the text after the last one filters."""
        self._text = text
        head, separator, filter_text = text.replace(os.sep, "/").rpartition("/")
        folder = os.path.normpath(self._path / os.path.expanduser(head or "/"))
        if separator and os.path.isdir(folder):
            self._enter(Path(folder), text=filter_text)
        else:
            self._match()

    def _choose(self) -> None:
        """Enter the chosen row's folder, or open its file; without a row, open the written path."""
        if self._row < len(self._rows):
            entry = self._rows[self._row]
            path = self._path / entry.name
            self._enter(path) if entry.is_folder else self._open(path)
        elif self._text:
            self._open(self._path / os.path.expanduser(self._text))

    def _open(self, path: Path) -> None:
        self._context.view.say("")
        self._opening = True
        self._context.scene_loader.open_file(str(path))

    # -- drawing ---------------------------------------------------------------------------------------------------

    def _window(self, size: ImVec2) -> None:
        """In the middle, clear of messages."""
        room, message_height = units(theme.ROOM), said_height(self._context)
        top, bottom = room, size.y - room
        if said_below(self._context):
            bottom -= message_height + units(theme.STATUS)
        else:
            top += message_height
        wide, tall = min(units(SIZE[0]), size.x - 2 * room), min(units(SIZE[1]), bottom - top)
        position = ImVec2((size.x - wide) / 2, max(top, min((size.y - tall) / 2, bottom - tall)))
        with theme.window("##files", position, ImVec2(max(1.0, wide), max(1.0, tall)), alpha=0.98) as drawn:
            if drawn:
                self._head()
                self._parts()
                self._keys()
                self._draw_field()
                self._table(wide >= units(MIN_DATED))

    def _head(self) -> None:
        with theme.font("strong"):
            imgui.text_unformatted("Open")
        imgui.same_line()
        imgui.align_text_to_frame_padding()
        if imgui.calc_text_size(KEYS).x <= imgui.get_content_region_avail().x:
            imgui.text_disabled(KEYS)
        else:
            imgui.new_line()

    def _parts(self) -> None:
        """The folder's path, each part of it a button; the last ones where there is no room for all."""
        path, home = self._context.scene_loader.shown_path, os.path.expanduser("~")
        for text, folder in (("Home", home), ("Scene", os.path.dirname(os.path.abspath(path)))):
            imgui.begin_disabled(text == "Scene" and not os.path.isfile(path))
            if button(text):
                self._enter(Path(folder), os.path.basename(path) if text == "Scene" else "")
            tip(folder)
            imgui.end_disabled()
            imgui.same_line()
        parts = [*reversed(self._path.parents), self._path]
        texts = [printable(folder_path.name or folder_path.anchor) for folder_path in parts]
        gap = 2 * imgui.get_style().frame_padding.x + imgui.calc_text_size("/").x
        room, first = imgui.get_content_region_avail().x, len(parts)
        while first > 0 and (room := room - imgui.calc_text_size(texts[first - 1]).x - gap) > 0:
            first -= 1
        with theme.styled(button=color(GROUND, 0.0)):
            for k in range(min(first, len(parts) - 1), len(parts)):
                if k > 1:
                    imgui.text_disabled("/")
                    imgui.same_line(0, 0)
                if imgui.button(f"{texts[k]}##{k}"):
                    self._enter(parts[k], parts[k + 1].name if k + 1 < len(parts) else "")
                imgui.same_line(0, 0)
        imgui.new_line()

    def _keys(self) -> None:
        """Those that the field does not take: before it is drawn, since Backspace is its own where there is text."""
        pressed, key = imgui.is_key_pressed, imgui.Key
        by = pressed(key.down_arrow) - pressed(key.up_arrow) + PAGE * (pressed(key.page_down) - pressed(key.page_up))
        if by:
            self._row, self._scroll = max(0, min(self._row + by, len(self._rows) - 1)), True
        if pressed(key.backspace, False) and not self._text:
            self._enter(self._path.parent, self._path.name)
        if (pressed(key.enter, False) or pressed(key.keypad_enter, False)) and self._shown.path == self._path:
            self._choose()

    def _draw_field(self) -> None:
        """It has the keyboard unless something else does, and its own copy of the text meanwhile."""
        if not imgui.is_any_item_active():
            imgui.set_keyboard_focus_here()

        def edit(data: imgui.InputTextCallbackData) -> int:
            if not self._active:  # it begins with all of its text selected
                data.clear_selection()
                data.cursor_pos = data.buf_text_len
            text: Any = data.buf  # a string, declared as a character
            if not self._write and text != self._text:
                self._typed(text)
            if self._write:
                data.delete_chars(0, data.buf_text_len)
                data.insert_chars(0, self._text)
                self._write = False
            return 0

        imgui.set_next_item_width(-1)
        flags = imgui.InputTextFlags_.callback_always
        imgui.input_text_with_hint("##text", "name or path", self._text, flags, edit)
        self._active = imgui.is_item_active()

    def _table(self, dated: bool) -> None:
        remark = "" if self._rows else "nothing to open" if not self._text else "no such name"
        if self._shown.path != self._path:
            remark = "reading ..."
        if remark or self._shown.fault:
            imgui.push_text_wrap_pos(0)
            imgui.text_colored(color(theme.WARNING if self._shown.fault else theme.DIM), self._shown.fault or remark)
            imgui.pop_text_wrap_pos()
            return
        below = imgui.get_text_line_height_with_spacing()
        if not imgui.begin_table("rows", 3 if dated else 2, ROWS, ImVec2(0, -below)):
            return
        imgui.table_setup_column("name", imgui.TableColumnFlags_.width_stretch)
        for name, widest in (("size", "1023.9 MiB"), ("date", "2000-12-31 23:59"))[: 2 if dated else 1]:
            with theme.font("numbers"):
                imgui.table_setup_column(name, imgui.TableColumnFlags_.width_fixed, imgui.calc_text_size(widest).x)
        with theme.styled(header=color(theme.ACCENT, 0.28)):
            clipper = imgui.ListClipper()
            clipper.begin(len(self._rows))
            if self._scroll:
                clipper.include_item_by_index(self._row)
            while clipper.step():
                for k in range(clipper.display_start, clipper.display_end):
                    self._draw_row(k, dated)
        imgui.end_table()
        imgui.text_disabled(f"{grouped(len(self._rows))} of {grouped(len(self._shown.entries))}")

    def _draw_row(self, k: int, dated: bool) -> None:
        entry = self._rows[k]
        imgui.table_next_row()
        imgui.table_next_column()
        clicked = imgui.selectable(f"##{k}", k == self._row, WHOLE_ROW)[0]
        if self._scroll and k == self._row:
            self._scroll = False
            imgui.internal.scroll_to_item(imgui.internal.ScrollFlags_.keep_visible_edge_y)
        imgui.same_line(0, 0)
        ink, ending = (theme.ACCENT, "/") if entry.is_folder else (theme.TEXT, "")
        imgui.text_colored(color(ink), printable(entry.name) + ending)
        with theme.font("numbers"):
            imgui.table_next_column()
            if not entry.is_folder:
                text = memory(entry.size)
                room = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
                imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(0.0, room))
                imgui.text_disabled(text)
            if dated:
                imgui.table_next_column()
                imgui.text_disabled(entry.date)
        if clicked:
            self._row = k
            if imgui.is_mouse_double_clicked(0):
                self._choose()
