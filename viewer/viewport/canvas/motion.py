"""The bar of an animation on pages (``assets/canvas/motion.js``): its state, and its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.viewport.animation_player import SPEEDS
from viewer.viewport.context import ViewportContext

EVENTS = ("seek", "animation", "speed")


def motion_told(context: ViewportContext) -> dict[str, Any]:
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


def motion_asked(context: ViewportContext, event: Mapping[str, Any]) -> None:
    """Take an event of `EVENTS`: seek, to a moment in ``seconds``; animation, of a ``number``, below 0 all at once; and
    speed, in ``times`` the file's."""
    editing, kind = context.editing, event["event_type"]
    if kind == "seek":
        context.view.attempt(lambda: editing.seek_within(float(event["seconds"])))
    elif kind == "animation":
        number = int(event["number"])
        context.view.attempt(lambda: editing.choose_animation("all" if number < 0 else number))
    else:
        editing.player.speed = min(max(float(event["times"]), SPEEDS[0]), SPEEDS[-1])
