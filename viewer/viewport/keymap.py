"""Every action that a key performs, once: key handling, help overlay, tooltips and the window's page are made from it.

A key text is modifiers in the order Ctrl, Alt, Shift, Super and a key, joined by ``+``: ``F``, ``Ctrl+Shift+S``,
``?``, ``Num+``. Letters are capitals; the case of a typed text does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from raystream.base.errors import ViewerError
from raystream.options.declare import suggestion
from raystream.programs import PICTURES

# -- the table of actions: keys and mouse ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Action:
    """One thing that a key does.

    name     : as in the settings' ``[keys]``, such as ``program.cast``.
    keys     : key texts it has unless the user says otherwise.
    help     : one line.
    group    : its heading in the help.
    hold     : it lasts as long as the key is held (``fly.*``).
    repeat   : the keyboard's repetition performs it again.
    """

    name: str
    keys: tuple[str, ...]
    help: str
    group: str
    hold: bool = False
    repeat: bool = False


def _group(title: str, *rows: tuple[str, ...], hold: bool = False) -> tuple[Action, ...]:
    """Actions of a group; a row is (name, keys with blanks between, help, perhaps "repeat")."""
    return tuple(
        Action(name, tuple(keys.split()), text, title, hold, "repeat" in more) for name, keys, text, *more in rows
    )


ACTIONS: tuple[Action, ...] = (
    *_group(
        "Program",
        *((f"program.{name}", program.key, program.help) for name, program in PICTURES.items()),
        ("photons.points", "Shift+5", "photons as points, coloured by their power"),
        ("photons.cells", "Ctrl+5", "cells of the photon map's grid, coloured by their photons"),
        ("shadows.toggle", "L", "shadows on and off"),
        ("reflections.toggle", "R", "reflections on and off"),
        ("refractions.toggle", "B", "refractions on and off"),
    ),
    *_group(
        "Stream processor",
        ("machine.next", "M", "machine: a kernel in each pass, or everything in one"),
        ("fuse.next", "K", "fusion of kernels into one pass"),
        ("policy.next", "Y", "policy that chooses the next state"),
        ("unroll.next", "U", "calls of a looping kernel in one pass"),
        ("mask.next", "Shift+K", "mask that keeps rays in other states from running"),
        ("accel.next", "Shift+V", "acceleration structure"),
        ("inspector.show", "I", "inspector: streams and passes of a frame"),
        ("inspector.step", "N", "inspector: one pass", "repeat"),
        ("inspector.run", "Shift+N", "inspector: all passes that are left"),
        ("inspector.restart", "Shift+I", "inspector: back to the first pass"),
        ("probe.show", "X", "probe: the history of the ray under the cursor"),
        ("heat.next", "Shift+Z", "heat map of steps, of tests, or none"),
        ("wires.toggle", "V", "boxes of the structure, drawn as wires"),
    ),
    *_group(
        "Camera",
        ("camera.mode", "Tab", "orbit or fly"),
        ("camera.frame", "Home", "frame the whole scene"),
        ("camera.focus", "F", "focus the point under the cursor"),
        ("camera.next", "C", "next camera of the scene"),
        ("camera.reset", "Enter", "back to the camera of the start"),
        ("camera.front", "Ctrl+1", "view from the front"),
        ("camera.right", "Ctrl+3", "view from the right"),
        ("camera.top", "Ctrl+7", "view from the top"),
        ("camera.orthographic", "Shift+O", "orthographic or perspective"),
        ("fov.narrower", "[", "narrower field of view", "repeat"),
        ("fov.wider", "]", "wider field of view", "repeat"),
        ("camera.copy", "Ctrl+C", "copy the camera as text, as `raystream render --camera` takes it"),
        ("camera.paste", "Ctrl+V", "paste a camera"),
    ),
    *_group(
        "Flight",
        ("fly.forward", "W", "fly forward"),
        ("fly.back", "S", "fly back"),
        ("fly.left", "A", "fly to the left"),
        ("fly.right", "D", "fly to the right"),
        ("fly.down", "Q", "fly down"),
        ("fly.up", "E", "fly up"),
        ("fly.fast", "Shift", "fly four times as fast"),
        ("fly.slow", "Alt", "fly a quarter as fast"),
        hold=True,
    ),
    *_group(
        "Picture",
        ("exposure.up", "+ Num+", "brighter", "repeat"),
        ("exposure.down", "- Num-", "darker", "repeat"),
        ("exposure.auto", "0 Num0", "exposure by the picture's own luminance, as eyes follow light"),
        ("tonemap.next", "T", "tone map"),
        ("denoise.toggle", "Shift+T", "denoiser on and off"),
        ("pause", "P", "pause rendering"),
        ("screenshot.window", "F12", "save the window as it is, PNG"),
        ("screenshot.picture", "Ctrl+F12", "save the picture without panels, PNG"),
        ("save.exr", "Ctrl+S", "save the picture's linear radiance, EXR"),
    ),
    *_group(
        "Light and motion",
        ("object.grab", "G", "grab the object or light under the cursor; X, Y, Z along an axis"),
        ("lights.show", "Shift+L", "markers of the lights, which G grabs"),
        ("lights.next", "Ctrl+L", "select the next light"),
        ("environment.toggle", "J", "environment on and off"),
        ("ground.toggle", "Shift+J", "ground plane on and off"),
        ("animation.play", "Space", "play or pause the animation"),
        ("animation.back", "Shift+Left", "the animation's previous frame", "repeat"),
        ("animation.forward", "Shift+Right", "the animation's next frame", "repeat"),
        ("animation.next", "Shift+Space", "next animation of the scene"),
        ("animation.loop", "Ctrl+Space", "loop the animation, or stop at its end"),
        ("turntable", "O", "turn the camera around the scene"),
        ("depth.less", ",", "shorter paths: smaller maximum length", "repeat"),
        ("depth.more", ".", "longer paths: larger maximum length", "repeat"),
    ),
    *_group(
        "Scene",
        ("scene.open", "Ctrl+O", "open a file"),
        ("scene.reload", "F5", "read the file again"),
        ("scene.previous", "Left", "previous file of the folder"),
        ("scene.next", "Right", "next file of the folder"),
    ),
    *_group(
        "Window",
        ("help", "H F1 ?", "this help"),
        ("statistics", "Z", "statistics"),
        ("panels", "Ctrl+B", "panels"),
        ("full_screen", "F11 Alt+Enter", "full screen"),
        ("escape", "Esc", "close the help, cancel loading, or free the mouse"),
        ("quit", "Ctrl+Q", "quit"),
    ),
)

# The mouse, which cannot be rebound.
MOUSE: tuple[tuple[str, str], ...] = (
    ("left drag", "orbit; look around in flight"),
    ("middle or Shift+left drag", "pan"),
    ("right drag", "dolly"),
    ("Shift+right drag", "turn the environment"),
    ("Ctrl+left drag", "roll"),
    ("Ctrl+right drag", "move the selected light, or the first one; X, Y, Z along an axis"),
    ("wheel", "dolly to the cursor; speed in flight"),
    ("drop a file", "open it; .hdr and .exr become the environment"),
)

BY_NAME: dict[str, Action] = {action.name: action for action in ACTIONS}


# -- key texts ---------------------------------------------------------------------------------------------------------

# Modifier -> GLFW's bit; in the order in which a key text names them.
MODIFIERS = {"Ctrl": 0x2, "Alt": 0x4, "Shift": 0x1, "Super": 0x8}

# Key -> the names of GLFW's constants. Keys of one character carry their ASCII code there and are not listed.
_BARE = "SPACE ENTER TAB BACKSPACE INSERT DELETE LEFT RIGHT UP DOWN PAGE_UP PAGE_DOWN HOME END CAPS_LOCK SCROLL_LOCK"
_PAD = {".": "DECIMAL", "/": "DIVIDE", "*": "MULTIPLY", "-": "SUBTRACT", "+": "ADD", "=": "EQUAL", "Enter": "ENTER"}
NAMED: dict[str, tuple[str, ...]] = {
    **{
        name: (f"LEFT_{word}", f"RIGHT_{word}")
        for name in MODIFIERS
        for word in [name.upper().replace("CTRL", "CONTROL")]
    },
    "Esc": ("ESCAPE",),
    **{word.title().replace("_", ""): (word,) for word in f"{_BARE} NUM_LOCK PRINT_SCREEN PAUSE MENU".split()},
    **{f"F{n}": (f"F{n}",) for n in range(1, 26)},
    **{f"Num{name}": (f"KP_{word}",) for name, word in {**{str(n): str(n) for n in range(10)}, **_PAD}.items()},
}

# Other words, that people type or browsers send.
ALIASES = {
    "meta": "Super",
    **{f"arrow{way.lower()}": way for way in ("Left", "Right", "Up", "Down")},
    "contextmenu": "Menu",
    "control": "Ctrl",
    "option": "Alt",
    "cmd": "Super",
    "command": "Super",
    "win": "Super",
    "escape": "Esc",
    "return": "Enter",
    "del": "Delete",
    "ins": "Insert",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "plus": "+",
    "minus": "-",
}

# Two characters that stand in the table are typed with Shift on most keyboards, and without it on others.
SHIFTED = {"/": "?", "=": "+"}

WORDS = {name.lower(): name for name in NAMED} | ALIASES


def parse_key(text: str) -> str:
    """The key text in its one spelling: ``shift+ctrl+s`` -> ``Ctrl+Shift+S``.

    Raises ViewerError for a text that names no key.
    """
    modifiers, remainder = set(), text.strip()
    while "+" in remainder[1:]:
        word, _, after = remainder.partition("+")
        name = WORDS.get(word.strip().lower())
        if name not in MODIFIERS or not after.strip():
            break
        modifiers.add(name)
        remainder = after.strip()
    key = WORDS.get(remainder.replace(" ", "").lower(), remainder.upper() if _is_character(remainder) else "")
    if not key:
        hint = suggestion(remainder, WORDS.values()) or "such as F, F12, Ctrl+Shift+S, Space, PageUp or Num+"
        raise ViewerError(f"key '{text}'", f"'{remainder}' is no key" if remainder else "names no key", hint)
    return _joined(key, modifiers)


def key_text(key: int, mods: int = 0, scancode: int | None = None) -> str:
    """The key text of a GLFW key and modifier bits; empty for a key that has none.

    With its ``scancode``, a letter or sign is the one printed on the user's keyboard, where that is ASCII; digits keep
    their place, since some keyboards have signs there. A modifier alone is its name: ``Shift``.
    """
    name = _glfw_names().get(key)
    if name is None and 32 < key < 127:
        name = (_printed(key, scancode) if scancode is not None and not chr(key).isdigit() else "") or chr(key).upper()
    if name is None:
        return ""
    if name in MODIFIERS:
        return name
    return _joined(name, {modifier for modifier, bit in MODIFIERS.items() if mods & bit})


def _is_character(text: str) -> bool:
    # Some characters (sharp s) have a capital of two letters, which no key has.
    return len(text) == 1 and text.isprintable() and not text.isspace() and len(text.upper()) == 1


def _joined(key: str, modifiers: Collection[str]) -> str:
    if "Shift" in modifiers and key in SHIFTED:
        key, modifiers = SHIFTED[key], set(modifiers) - {"Shift"}
    elif key in SHIFTED.values():  # a keyboard may ask for Shift, or not
        modifiers = set(modifiers) - {"Shift"}
    return "+".join([name for name in MODIFIERS if name in modifiers and name != key] + [key])


def _printed(key: int, scancode: int) -> str:
    import glfw

    printed = glfw.get_key_name(key, scancode) or ""
    return printed.upper() if printed.isascii() and _is_character(printed) else ""


@cache
def _glfw_names() -> dict[int, str]:
    import glfw

    return {getattr(glfw, f"KEY_{word}"): name for name, words in NAMED.items() for word in words}


# -- the keys in force -------------------------------------------------------------------------------------------------


class HelpLine(NamedTuple):
    """A line of the help: the keys as text, their effect, and the action; no action for the mouse's."""

    keys: str
    help: str
    action: Action | None


class Keymap:
    """Which key performs which action: the table, with the user's own keys in place of the table's.

    rebindings : action's name -> a key text, or several; an empty text or list leaves it without a key.
    source : of the rebindings, for messages.

    Raises ViewerError for an unknown action or key, and for a key that two actions claim.
    """

    def __init__(self, rebindings: Mapping[str, str | Sequence[str]] | None = None, source: str = "[keys]") -> None:
        chosen = rebindings or {}
        for name in chosen:
            if name not in BY_NAME:
                hint = suggestion(name, BY_NAME) or "viewer/window/README.md lists the actions"
                raise ViewerError(f"{source}: action '{name}'", "unknown", hint)
        self._keys: dict[str, tuple[str, ...]] = {}
        self._actions: dict[str, Action] = {}
        for action in ACTIONS:
            texts = _texts(chosen[action.name], action, source) if action.name in chosen else action.keys
            try:
                self._keys[action.name] = tuple(dict.fromkeys(map(parse_key, texts)))
            except ViewerError as error:
                raise ViewerError(f"{source}: {action.name}: {error.where}", error.what, error.hint) from None
            for key in self._keys[action.name]:
                other = self._actions.setdefault(key, action)
                if other is not action:
                    raise ViewerError(
                        f"{source}: key '{key}'",
                        f"both {other.name} and {action.name} have it",
                        "give one of them another key, or none by an empty text",
                    )

    def lookup(self, text: str) -> Action | None:
        """The action of a key text as `key_text` gives it.

        Modifiers that are held actions themselves (Shift, Alt) do not hide another held action: Shift+W flies forward.
        """
        action = self._actions.get(text)
        if action is not None:
            return action
        modifiers, key = _parts(text)
        speed = {name for name in modifiers if name in self._actions and self._actions[name].hold}
        plain = self._actions.get(_joined(key, modifiers - speed))
        return plain if plain is not None and plain.hold else None

    def released(self, text: str) -> Action | None:
        """The held action that ends when this key goes up, whatever modifiers have come or gone since it went down."""
        key = _parts(text)[1]
        hold_actions = (action for action in ACTIONS if action.hold)
        return next((a for a in hold_actions if any(_parts(bound)[1] == key for bound in self.keys(a))), None)

    def keys(self, action: Action | str) -> tuple[str, ...]:
        """The keys of an action."""
        return self._keys[action if isinstance(action, str) else action.name]

    def text(self, action: Action | str) -> str:
        """The keys of an action as the user reads them: ``H, F1 or ?``; empty for one without."""
        *most, last = self.keys(action) or ("",)
        return f"{', '.join(most)} or {last}" if most else last

    def help_lines(self) -> list[tuple[str, list[HelpLine]]]:
        """The help by group, the mouse last; actions without a key are left out."""
        groups: dict[str, list[HelpLine]] = {}
        for action in ACTIONS:
            if self.keys(action):
                groups.setdefault(action.group, []).append(HelpLine(self.text(action), action.help, action))
        groups["Mouse"] = [HelpLine(gesture, text, None) for gesture, text in MOUSE]
        return list(groups.items())

    def markdown_table(self) -> str:
        """The list of keys in Markdown, for viewer/window/README.md; the third column is the name under ``[keys]``."""
        rows = ["| key | what it does | name |", "|---|---|---|"]
        for title, lines in self.help_lines():
            rows.append(f"| **{title}** | | |")
            for line in lines:
                keys = ", ".join(f"`{key}`" for key in self.keys(line.action)) if line.action else line.keys
                name = f"`{line.action.name}`" if line.action else ""
                rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (keys, line.help, name)) + " |")
        return "\n".join(rows)


def _parts(text: str) -> tuple[set[str], str]:
    """Modifiers and key of a key text in its one spelling."""
    modifiers = set()
    while (word := text.partition("+")[0]) in MODIFIERS and word != text:
        modifiers.add(word)
        text = text[len(word) + 1 :]
    return modifiers, text


def _texts(value: object, action: Action, source: str) -> tuple[str, ...]:
    """The key texts of a rebinding."""
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, tuple | list) or not all(isinstance(text, str) for text in texts):
        hint = 'give a text such as "F", or a list of them'
        raise ViewerError(f"{source}: {action.name}", f"{value!r} is no key", hint)
    return tuple(text for text in texts if text.strip())
