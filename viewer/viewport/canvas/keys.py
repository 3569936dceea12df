"""Key texts (`viewer.viewport.controls.keymap`) of the keys that browsers report."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.base.errors import ViewerError
from viewer.viewport.controls.keymap import MODIFIERS, parse_key

# A browser's name (the `key` of its KeyboardEvent) -> the key's name here; others are the same, or a character.
NAMES = {
    " ": "Space",
    "Control": "Ctrl",
    "Meta": "Super",
    "Escape": "Esc",
    "ArrowLeft": "Left",
    "ArrowRight": "Right",
    "ArrowUp": "Up",
    "ArrowDown": "Down",
    "ContextMenu": "Menu",
}


def key_text(key: str, modifiers: Iterable[str] = ()) -> str:
    """The key text of a key with modifiers, by a browser's names; empty for a key that has none."""
    name = NAMES.get(key, key)
    held = {NAMES.get(modifier, modifier) for modifier in modifiers} & MODIFIERS.keys()
    try:
        return parse_key("+".join([*(each for each in MODIFIERS if each in held and each != name), name]))
    except ViewerError:
        return ""


def modifier_bits(modifiers: Iterable[str]) -> int:
    """The bits of `MODIFIERS` of a browser's modifiers."""
    return sum({MODIFIERS.get(NAMES.get(modifier, modifier), 0) for modifier in modifiers})
