"""Moments of animations by `Renderer.update`: the pictures of the posed scene itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from motion import OPTIONS, SIZE, sliding

from raystream.base.errors import ViewerError, ViewerWarning
from raystream.renderer.renderer import Renderer
from raystream.renderer.sequence import render, render_frames
from raystream.scene.animation import Animation
from raystream.scene.mesh import Instance
from raystream.scene.scene import Scene


@pytest.fixture
def scene() -> Scene:
    """A square that slides to the right in a second, or stands; another one stands above it."""
    made = sliding()
    above = np.eye(4)
    above[1, 3] = 0.75
    made.instances.append(Instance(0, above))
    made.animations.append(Animation("stand", (replace(made.animations[0].tracks[0], path="scale"),)))
    ones = replace(made.animations[1].tracks[0], values=np.ones((2, 3)))
    made.animations[1] = Animation("stand", (ones,))
    return made


@pytest.fixture
def renderer(device: Any, scene: Scene) -> Iterator[Renderer]:
    made = Renderer(scene, device=device, accel="two-level-bvh", **OPTIONS)
    yield made
    made.release()


def test_a_moment_is_the_posed_scenes_picture(device: Any, renderer: Renderer, scene: Scene) -> None:
    before = renderer.render(SIZE, 2).linear
    renderer.update(moment=0.5)
    other = Renderer(scene.posed(0.5), device=device, accel="two-level-bvh", **OPTIONS)
    shown = renderer.render(SIZE, 2).linear
    np.testing.assert_array_equal(shown, other.render(SIZE, 2).linear)
    assert (shown != before).any() and renderer.scene.instances[0].transform[0, 3] == 0.5
    assert scene.instances[0].transform[0, 3] == 0.0, "what was given stays as it is"
    other.release()


def test_another_animation_begins_at_rest(renderer: Renderer, scene: Scene) -> None:
    """What was moved otherwise stays."""
    renderer.update(moment=0.5)
    moved = np.eye(4)
    moved[1, 3] = -0.75
    renderer.move({1: moved})
    with pytest.raises(ViewerError, match=r"no animation 'dance'.*'motion', 1 'stand'"):
        renderer.update(animation="dance")
    assert renderer.scene.instances[0].transform[0, 3] == 0.5
    renderer.update(animation="stand")
    assert renderer.scene.playing.name == "stand" and scene.playing.name == "motion"  # type: ignore[union-attr]
    np.testing.assert_array_equal(renderer.scene.instances[0].transform, np.eye(4))
    np.testing.assert_array_equal(renderer.scene.instances[1].transform, moved)
    renderer.update(animation=0, moment=1.0, program="cast")
    assert renderer.scene.instances[0].transform[0, 3] == 1.0 and renderer.settings.program == "cast"


def test_moments_of_another_scene(renderer: Renderer, scene: Scene) -> None:
    renderer.update(moment=1.0)
    renderer.update(Scene(list(scene.meshes), list(scene.instances), scene.materials))
    with pytest.raises(ViewerError, match="nothing moves in it"):
        renderer.update(moment=1.0)
    with pytest.raises(ViewerError, match="moment"):
        renderer.update(scene, moment=-1.0)
    renderer.update(scene, moment=0.25, depth=1)
    assert renderer.scene.instances[0].transform[0, 3] == 0.25


def test_the_words_of_one_line(device: Any, scene: Scene) -> None:
    """`render` and `render_frames` take the animation, too; a moment beyond its end, or of none, is told."""
    about = {"size": SIZE, "spp": 1, "device": device, **OPTIONS}
    rest = render(scene, **about).linear
    np.testing.assert_array_equal(render(scene, moment=1.0, animation="stand", **about).linear, rest)
    np.testing.assert_array_equal(render(scene, animation="motion", **about).linear, rest)
    last = render(scene, moment=1.0, animation=0, **about).linear
    assert (last != rest).any() and scene.animation == 0
    with pytest.warns(ViewerWarning, match="the animation ends at 1 s, and is shown in its last pose"):
        np.testing.assert_array_equal(render(scene, moment=2.0, **about).linear, last)
    with pytest.raises(ViewerError, match=r"'moment': belongs to Renderer\.update, not to Renderer"):
        Renderer(scene, moment=1.0, device=device)
    with pytest.raises(ViewerError, match="nothing moves in it"):
        render("cornell", moment=1.0, **about)
    how = {"render": {"size": SIZE, "spp": 1}, "device": device, "fps": 1, **OPTIONS}
    for animation, expected in (("stand", rest), (0, last)):
        (frame,) = render_frames(scene, range(1, 2), animation=animation, **how)
        np.testing.assert_array_equal(frame.picture.linear, expected)


def test_a_grid_that_is_not_built_on_the_device_is_told(device: Any, scene: Scene) -> None:
    for accel, told in (("grid", []), ("bvh", ["--rebuild device-grid serves --accel grid alone, and not bvh"])):
        made = Renderer(scene, device=device, accel=accel, rebuild="device-grid", **OPTIONS)
        assert [note for note in made.notes if "device-grid" in note] == told
        made.release()
