"""The table of actions: keys and mouse."""

from __future__ import annotations

from dataclasses import dataclass

from raystream.programs import PICTURES


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
