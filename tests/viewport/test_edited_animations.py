"""An animation on show and what else moves: the second triangle goes from x = 2 to x = 4 in two seconds, and the bulb
with it."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.animation import Pose
from raystream.scene.material import Material
from raystream.scene.scene import Scene
from tests.viewport.editing_stage import HOME, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


class Animated(Stage):
    """Its pose by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.lit = True
        self.first.animations = [SimpleNamespace(duration=2.0, name="walk")]  # type: ignore[list-item]

        def pose(scene: Scene, seconds: float) -> Any:
            transforms = np.array([each.transform for each in scene.instances])
            transforms[1, 0, 3] = 2.0 + seconds
            bulb = replace(scene.lights[0], position=(seconds, 0, 0)) if self.lit else scene.lights[0]
            return Pose(transforms, scene.cameras, [bulb, *scene.lights[1:]], {})

        self.pose = pose


@pytest.fixture
def animated(monkeypatch: pytest.MonkeyPatch) -> Animated:
    made = Animated()
    monkeypatch.setattr(Scene, "pose", made.pose)
    return made


def test_an_animation_is_shown_at_its_time(animated: Animated) -> None:
    editing = animated.editing
    editing.animation.play()
    assert editing.animation.player.playing and editing.active and animated.said == ["animation 'walk' plays"]
    assert editing.update(0.5) and animated.places()[1] == (2.5, 0.0, 0.0)
    assert animated.scene.lights[0].position == (0.5, 0, 0) and animated.scene.lights[1] == animated.first.lights[1]
    assert animated.done[-2:] == ["changed", "wake"]
    assert (
        editing.update(1.75) and editing.animation.player.seconds == 0.25 and animated.places()[1] == (2.25, 0.0, 0.0)
    )
    editing.animation.play()
    assert animated.said[-1] == "animation 'walk' rests at 0.25 s" and not editing.active
    assert not editing.update(0.5) and editing.animation.player.seconds == 0.25


def test_a_moment_beyond_an_end_is_that_end(animated: Animated) -> None:
    editing = animated.editing
    for asked, shown in ((1.25, 1.25), (7.0, 2.0), (-1.0, 0.0), (math.inf, 0.0)):
        editing.animation.player.playing = math.isfinite(asked)
        editing.animation.seek_within(asked)
        assert (editing.animation.player.seconds, editing.animation.player.playing) == (shown, False), asked


def test_the_next_animation_begins_at_its_first_moment(animated: Animated) -> None:
    editing = animated.editing
    animated.scene.animations = [*animated.scene.animations, SimpleNamespace(duration=1.0, name="run")]
    editing.animation.seek(0.5)
    editing.animation.next()
    assert editing.animation.name == "run" and editing.animation.player.seconds == 0.0 and editing.animation.player.due
    editing.animation.next()
    assert editing.animation.name == "walk" == editing.animation.names[0]
    animated.scene.animations = [SimpleNamespace(duration=2.0, name="walk") for _ in range(3)]
    order = [(editing.animation.next(), animated.scene.animation)[1] for _ in range(4)]
    assert order == [1, 2, 0, 1], "those of one name follow each other, too"


def test_another_animation_begins_at_rest(animated: Animated, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one before leaves nothing behind; what was moved by hand stays, in its variant, wherever it was moved."""
    editing, walk = animated.editing, animated.pose

    def pose(scene: Scene, seconds: float) -> Pose:
        still = Pose(np.array([each.transform for each in scene.instances]), scene.cameras, scene.lights, {})
        if scene.animation == 1:
            return still
        return walk(scene, seconds)._replace(materials={0: Material(metallic=seconds / 2)})

    monkeypatch.setattr(Scene, "pose", pose)
    animated.first.animations = [SimpleNamespace(duration=2.0, name=name) for name in ("walk", "stand")]  # type: ignore
    animated.first.variants = {"dark": {0: 0}}
    editing.animation.seek(0.5)
    editing.update(0.0)
    editing.animation.seek(1.0)
    editing.update(0.0)
    editing.grab()
    animated.move(120, 40)  # the pair, and not what walks
    editing.show_variant("dark")
    assert animated.places()[0] == (2.0, 1.0, 0.0) and animated.places()[1] == (3.0, 0.0, 0.0)
    editing.animation.next()
    assert editing.update(0.0) and not editing.grabbing
    assert animated.places() == [(2.0, 1.0, 0.0), HOME[1], (2.0, 1.0, 0.0), HOME[3]]
    assert animated.scene.materials == animated.first.materials and animated.scene.lights == animated.first.lights
    assert animated.scene.variant == "dark" and animated.scene.instances[1].material == 0
    assert len(animated.updates) == 5, "at once, without a picture between the two"
    editing.animation.next()
    editing.update(0.0)
    editing.animation.seek(1.0)
    editing.update(0.0)
    animated.view.input.cursor, animated.hit.instance[0] = (100.0, 50.0), 1
    editing.grab()
    animated.move(110, 50)  # what walks, while it rests
    editing.animation.next()
    assert editing.update(0.0) and animated.places()[1] == (4.0, 0.0, 0.0)


def test_nothing_moves_in_a_scene_without_animations(stage: Stage) -> None:
    def nothing() -> Any:
        raise ViewerError("scene", "none is loaded yet")

    for told in (r"nothing moves in this scene \(O turns it\)", "none is loaded yet"):
        for act in (
            stage.editing.animation.play,
            lambda: stage.editing.animation.step(1),
            stage.editing.animation.next,
        ):
            with pytest.raises(ViewerError, match=told):
                act()
        stage.view.require_scene = nothing
    assert not stage.editing.animation.player.playing
