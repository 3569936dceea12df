"""A page that shows a view: keys of browsers, scripts, and the bar of an animation (``assets/canvas/motion.js``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from raystream.base.errors import ViewerError
from raystream.base.paths import assets
from raystream.viewport.animation_player import SPEEDS
from raystream.viewport.context import ViewportContext
from raystream.viewport.keymap import MODIFIERS, parse_key

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
    if name in MODIFIERS:
        return name
    pressed = {NAMES.get(modifier, modifier) for modifier in modifiers} & MODIFIERS.keys()
    try:
        return parse_key("+".join([*(modifier for modifier in MODIFIERS if modifier in pressed), name]))
    except ViewerError:
        return ""


def modifier_bits(modifiers: Iterable[str]) -> int:
    """The bits of `MODIFIERS` of a browser's modifiers."""
    return sum({MODIFIERS.get(NAMES.get(modifier, modifier), 0) for modifier in modifiers})


def script(name: str) -> str:
    """JavaScript of ``assets/canvas``, to run after rendercanvas's ``renderview.js`` and before it makes a view."""
    return (assets() / "canvas" / name).read_text(encoding="utf-8")


EVENTS = ("seek", "animation", "speed")


def serialize_motion(context: ViewportContext) -> dict[str, Any]:
    """A message on the animation: of a duration of 0 where nothing moves."""
    scene, editing = context.view.scene, context.editing
    player = editing.player
    return {
        "type": "motion",
        "seconds": player.seconds,
        "duration": scene.duration if scene is not None else 0.0,
        "playing": player.playing,
        "loop": player.loop,
        "speed": player.speed,
        "speeds": SPEEDS,
        "animation": scene.animation if scene is not None else 0,
        "animations": editing.animations,
    }


def apply_motion(context: ViewportContext, event: Mapping[str, Any]) -> None:
    """Take an event of `EVENTS`: seek, to a moment in ``seconds``; animation, of a ``number``, below 0 all at once; and
    speed, in ``times`` the file's."""
    editing, kind = context.editing, event["event_type"]
    if kind == "seek":
        context.view.attempt(lambda: editing.seek_within(float(event["seconds"])))
    elif kind == "animation":
        index = int(event["number"])
        context.view.attempt(lambda: editing.choose_animation("all" if index < 0 else index))
    else:
        editing.player.speed = min(max(float(event["times"]), SPEEDS[0]), SPEEDS[-1])
