"""A real window of ``raystream.pyrender.Viewer`` in a thread, beside a script that changes its scene."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from raystream import pyrender
from tests.window.conftest import PATIENCE, xdotool


def until(condition: Callable[[], object]) -> None:
    """Let the window's thread run until something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_script_and_its_window(place: Path) -> None:
    """What the script changes is traced, a key calls its function, and a renderer works beside."""
    corners = [[-1, -1, 0], [1, -1, 0], [0, 1, 0]]
    mesh = pyrender.Mesh([pyrender.Primitive(corners, indices=[[0, 1, 2]])])
    scene = pyrender.Scene(ambient_light=[0.5] * 3)
    node = scene.add(mesh)
    called: list[object] = []
    viewer = pyrender.Viewer(
        scene,
        viewport_size=(96, 72),
        run_in_thread=True,
        registered_keys={"k": called.append},
        viewer_flags={"window_title": "of a script"},
    )
    app = viewer._app
    turn, press, turns, heard = app.each_turn, app.events.on_key, [0], []

    def turned() -> None:
        turn()
        turns[0] += 1

    def pressed(key: int, scancode: int, action: int, mods: int) -> None:
        press(key, scancode, action, mods)
        heard.append(action)

    app.each_turn, app.events.on_key = turned, pressed
    try:
        until(lambda: app.draws > 0 and app.view.scene is not None)
        with viewer.render_lock:
            scene.set_pose(node, np.diag([1.0, 1.0, 2.0, 1.0]))
            scene.add(mesh, pose=[[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1]])
        until(lambda seen=turns[0]: turns[0] > seen + 1 and app.editing._next_scene is None)
        assert app.view.scene.triangle_count == 2 and app.view.scene.instances[0].transform[2, 2] == 2
        pictures = app.session.pictures
        until(lambda: app.session.pictures > pictures)
        number = xdotool("search", "--name", "of a script").split()[0]
        xdotool("windowfocus", number)
        xdotool("key", "k")
        until(lambda: 0 in heard)
        until(lambda seen=turns[0]: turns[0] > seen + 1)
        assert called == [viewer] and not app.view.message.is_error

        scene.add(pyrender.PerspectiveCamera(1.0), pose=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]])
        renderer = pyrender.OffscreenRenderer(9, 9)
        assert renderer.render(scene, pyrender.RenderFlags.DEPTH_ONLY)[4, 4] == np.float32(3)
        renderer.delete()
    finally:
        viewer.close_external()
    assert not viewer.is_active


def test_a_window_on_nothing_yet(place: Path) -> None:
    """Meshes come when the window is open, and go."""
    scene = pyrender.Scene()
    viewer = pyrender.Viewer(scene, viewport_size=(96, 72), run_in_thread=True, use_raymond_lighting=True)
    app = viewer._app
    try:
        until(lambda: not viewer.is_active or (app.draws > 0 and app.view.scene is not None and app.session.pictures))
        assert viewer.is_active and app.view.scene.triangle_count == 0
        for wanted in (1, 0):
            with viewer.render_lock:
                if wanted:
                    node = scene.add(pyrender.Mesh([pyrender.Primitive([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])]))
                else:
                    scene.remove_node(node)
            until(lambda: not viewer.is_active or app.view.scene.triangle_count == wanted)  # noqa: B023
            assert viewer.is_active and not app.view.message.is_error
    finally:
        viewer.close_external()
