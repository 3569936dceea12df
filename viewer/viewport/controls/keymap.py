"""Every action that a key performs, once: key handling, help overlay, tooltips and the window's page are made from it.

A key text is modifiers in the order Ctrl, Alt, Shift, Super and a key, joined by ``+``: ``F``, ``Ctrl+Shift+S``,
``?``, ``Num+``. Letters are capitals; the case of a typed text does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from raystream.base.errors import ViewerError
from raystream.options.declare import suggestion
from raystream.viewport.controls.action_table import ACTIONS, BY_NAME, MOUSE, Action

__all__ = ["ACTIONS", "BY_NAME", "MOUSE", "Action", "Keymap", "key_text", "markdown_table", "parse_key"]

# -- key texts ---------------------------------------------------------------------------------------------------------

# Modifier -> GLFW's bit; in the order in which a key text names them.
MODIFIERS = {"Ctrl": 0x2, "Alt": 0x4, "Shift": 0x1, "Super": 0x8}

# Key -> the names of GLFW's constants. Keys of one character carry their ASCII code there and are not listed.
NAMED: dict[str, tuple[str, ...]] = {
    "Ctrl": ("LEFT_CONTROL", "RIGHT_CONTROL"),
    "Alt": ("LEFT_ALT", "RIGHT_ALT"),
    "Shift": ("LEFT_SHIFT", "RIGHT_SHIFT"),
    "Super": ("LEFT_SUPER", "RIGHT_SUPER"),
    "Space": ("SPACE",),
    "Esc": ("ESCAPE",),
    "Enter": ("ENTER",),
    "Tab": ("TAB",),
    "Backspace": ("BACKSPACE",),
    "Insert": ("INSERT",),
    "Delete": ("DELETE",),
    "Left": ("LEFT",),
    "Right": ("RIGHT",),
    "Up": ("UP",),
    "Down": ("DOWN",),
    "PageUp": ("PAGE_UP",),
    "PageDown": ("PAGE_DOWN",),
    "Home": ("HOME",),
    "End": ("END",),
    "CapsLock": ("CAPS_LOCK",),
    "ScrollLock": ("SCROLL_LOCK",),
    "NumLock": ("NUM_LOCK",),
    "PrintScreen": ("PRINT_SCREEN",),
    "Pause": ("PAUSE",),
    "Menu": ("MENU",),
    **{f"F{n}": (f"F{n}",) for n in range(1, 26)},
    **{f"Num{n}": (f"KP_{n}",) for n in range(10)},
    "Num.": ("KP_DECIMAL",),
    "Num/": ("KP_DIVIDE",),
    "Num*": ("KP_MULTIPLY",),
    "Num-": ("KP_SUBTRACT",),
    "Num+": ("KP_ADD",),
    "Num=": ("KP_EQUAL",),
    "NumEnter": ("KP_ENTER",),
}

# Other words that people type.
ALIASES = {
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

_WORDS = {name.lower(): name for name in NAMED} | ALIASES


def parse_key(text: str) -> str:
    """The key text in its one spelling: ``shift+ctrl+s`` -> ``Ctrl+Shift+S``.

    Raises ViewerError for a text that names no key.
    """
    modifiers, remainder = set(), text.strip()
    while "+" in remainder[1:]:
        word, _, after = remainder.partition("+")
        name = _WORDS.get(word.strip().lower())
        if name not in MODIFIERS or not after.strip():
            break
        modifiers.add(name)
        remainder = after.strip()
    key = _WORDS.get(remainder.replace(" ", "").lower(), remainder.upper() if _is_character(remainder) else "")
    if not key:
        hint = suggestion(remainder, _WORDS.values()) or "such as F, F12, Ctrl+Shift+S, Space, PageUp or Num+"
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

    found = glfw.get_key_name(key, scancode) or ""
    return found.upper() if found.isascii() and _is_character(found) else ""


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
    where : the source of the rebindings, for messages.

    Raises ViewerError for an unknown action or key, and for a key that two actions claim.
    """

    def __init__(self, rebindings: Mapping[str, str | Sequence[str]] | None = None, where: str = "[keys]") -> None:
        chosen = rebindings or {}
        for name in chosen:
            if name not in BY_NAME:
                hint = suggestion(name, BY_NAME) or "viewer/window/README.md lists the actions"
                raise ViewerError(f"{where}: action '{name}'", "unknown", hint)
        self._keys: dict[str, tuple[str, ...]] = {}
        self._actions: dict[str, Action] = {}
        for action in ACTIONS:
            given = _texts(chosen[action.name], action, where) if action.name in chosen else action.keys
            self._keys[action.name] = tuple(dict.fromkeys(_parsed(text, action, where) for text in given))
            for key in self._keys[action.name]:
                other = self._actions.setdefault(key, action)
                if other is not action:
                    raise ViewerError(
                        f"{where}: key '{key}'",
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
        held = (action for action in ACTIONS if action.hold)
        return next((a for a in held if any(_parts(bound)[1] == key for bound in self.keys(a))), None)

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


def markdown_table() -> str:
    """The list of the keys that the table gives, in Markdown."""
    return Keymap().markdown_table()


def _parts(text: str) -> tuple[set[str], str]:
    """Modifiers and key of a key text in its one spelling."""
    modifiers = set()
    while (word := text.partition("+")[0]) in MODIFIERS and word != text:
        modifiers.add(word)
        text = text[len(word) + 1 :]
    return modifiers, text


def _parsed(text: str, action: Action, where: str) -> str:
    try:
        return parse_key(text)
    except ViewerError as error:
        raise ViewerError(f"{where}: {action.name}: {error.where}", error.what, error.hint) from None


def _texts(value: object, action: Action, where: str) -> tuple[str, ...]:
    """The key texts of a rebinding."""
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, tuple | list) or not all(isinstance(text, str) for text in texts):
        hint = 'give a text such as "F", or a list of them'
        raise ViewerError(f"{where}: {action.name}", f"{value!r} is no key", hint)
    return tuple(text for text in texts if text.strip())


if __name__ == "__main__":
    print(markdown_table())
