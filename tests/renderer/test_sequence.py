"""Frames of motion and moments: each equals a fresh picture of the posed scene; what the command writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import places
import pytest
from motion import OPTIONS, sliding
from motion import SIZE as SQUARE
from PIL import Image
from signals import heeding

import raystream
from raystream.base.errors import ViewerError, ViewerWarning
from raystream.cli import main as cli
from raystream.renderer.renderer import Renderer
from raystream.renderer.sequence import render, render_frames
from raystream.scene import builtin
from raystream.scene.animation import Animation, Track, turntable
from raystream.scene.camera import Camera
from raystream.scene.geometry.framing import overview
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.light import Light
from raystream.scene.mesh import Instance
from raystream.scene.scene import Scene

SIZE = {"size": (40, 30)}
CAST = {"program": "cast"}


@pytest.fixture
def balls():
    """The built-in scene that moves."""
    return builtin.build("balls")


PATIENCE = 600.0  # seconds, against hanging alone


def fresh(scene, seconds, **options):
    """The picture of a scene that is posed and built for it alone."""
    return places.picture(scene.posed(seconds), **SIZE, layers="triangle", **options, program="cast")


def test_every_frame_is_a_fresh_picture_of_its_moment(device, balls):
    frames = list(
        render_frames(balls, range(3, 7), fps=4, render={**SIZE, "layers": ("triangle",)}, device=device, **CAST)
    )
    assert [(each.number, each.seconds) for each in frames] == [(3, 0.75), (4, 1.0), (5, 1.25), (6, 1.5)]
    for each in frames:
        expected = fresh(balls, each.seconds, device=device)
        assert np.array_equal(each.picture.linear, expected.linear)
        assert np.array_equal(each.picture.layers["triangle"], expected.layers["triangle"])
        assert each.picture.metadata["frame"] == str(each.number)
    assert not np.array_equal(frames[0].picture.linear, frames[2].picture.linear)
    assert np.array_equal(balls.instances[0].transform, builtin.build("balls").instances[0].transform)


def test_lights_move_with_their_nodes_unless_they_are_put_somewhere(device):
    """A point light that rises over a floor that slides: as in the posed scene; with ``light`` where that says."""
    scene = raystream.Scene.from_triangles([[-2, 0, -2], [-2, 0, 2], [2, 0, 2], [2, 0, -2]], [[0, 1, 2], [0, 2, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 1.0, 0.0), intensity=(5.0, 5.0, 5.0))]
    scene.cameras = [Camera((0.0, 3.0, 3.0), (0.0, 0.0, 0.0))]
    seconds = np.array([0.0, 1.0])
    rise = Track(0, "translation", seconds, np.array([[0.0, 1.0, 0.0], [1.0, 3.0, 0.0]]))
    slide = Track(1, "translation", seconds, np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]))
    shadow = {"program": "shadow", "machine": "singlepass", "device": device, "environment": "none"}
    shown = {**SIZE, "spp": 1}
    for tracks in ((rise,), (rise, slide)):
        scene.hierarchy = Hierarchy.of([-1, -1], np.zeros((2, 3)), [1], light_nodes=[0])
        scene.animations = [Animation("rise", tracks)]
        for options in ({}, {"light": "lamp=1,2,1"}):
            made = [
                each.picture.linear for each in render_frames(scene, range(3), 2, render=shown, **options, **shadow)
            ]
            for k, picture in enumerate(made):
                assert np.array_equal(picture, places.picture(scene.posed(k / 2), **shown, **options, **shadow).linear)
            assert np.array_equal(made[0], made[2]) == (bool(options) and tracks == (rise,))


def test_the_turntable_goes_around_once_while_the_animation_plays(device, balls):
    camera = balls.cameras[2]
    made = list(
        render_frames(balls, range(4), fps=2, turntable=True, camera="side", render=SIZE, device=device, **CAST)
    )
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for k in range(4):
        box = balls.posed(k / 2).bounds()
        low, high = np.minimum(low, box[0]), np.maximum(high, box[1])
    for k, each in enumerate(made):
        seen = turntable(camera, np.stack([low, high]), k / 4)
        assert np.array_equal(each.picture.linear, fresh(balls, k / 2, camera=seen, device=device).linear)


def test_a_camera_that_frames_the_scene_stands_still(device):
    scene = raystream.Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    rise = Track(0, "translation", np.array([0.0, 1.0]), np.array([[0, 0, 0], [0, 8, 0]]))
    scene.hierarchy = Hierarchy.of([-1], [[0, 0, 0]], [0])
    scene.animations = [Animation("rise", (rise,))]
    pictures = [each.picture for each in render_frames(scene, range(5), fps=4, render=SIZE, device=device, **CAST)]
    cameras = {each.metadata["camera"] for each in pictures}
    poses = np.concatenate([[[0, y, 0], [1, y, 0], [0, y + 1, 0]] for y in (0, 2, 4, 6, 8)])
    assert cameras == {overview(poses).text()}
    rows = [np.nonzero((each.linear != each.linear[0, 0]).any(axis=(1, 2)))[0].mean() for each in pictures]
    assert (np.diff(rows) < -2).all()  # upwards, and seen in every frame


# The command


def error_line(capsys):
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("--frames", "9-3", "-o", "a%d.png"),
            "--frames '9-3': expected two whole numbers such as 0-119, the first not",
        ),
        (
            ("--frames", "0-3", "-o", "a.png"),
            "a.png: no %d in the file name for the frame's number (such as frame_%04d",
        ),
        (("--frames", "0-3", "-o", "%d%d.png"), "%d%d.png: 2 times %d in the file name"),
        (("--frames", "0-3", "-o", "no/%d.png"), "no/3.png: there is no folder"),
        (("--frames", "0-3", "-o", "a.mp4", "--layers", "depth"), "a.mp4: a movie cannot hold the layers depth"),
        (("--frames", "0-3", "-o", "a.gif", "--fps", "90"), "a.gif: 90 frames a second (a GIF shows 50 at most"),
        (("--frames", "0-3", "-o", "a%d.png", "--moment", "2"), "--moment: is for one picture, and --frames for many"),
        (("-o", "a.gif"), "a.gif: a movie needs --frames (such as --frames 0-119)"),
        (("-o", "a.png", "--turntable"), "--turntable: needs --frames (such as"),
        (("-o", "a.png", "--animation", "x"), "--animation: needs --moment or --frames"),
        (("-o", "a.png", "--shutter", "0,1"), "--shutter: needs --moment or --frames"),
        (("-o", "a.png", "--moment", "1", "--motion-keys", "3"), "--motion-keys: needs --shutter"),
        (("-o", "a.png", "--animation", "x", "--moment", "1"), "balls: no animation 'x' (animations: 0 'orbit')"),
        (("-o", "a.png", "--moment", "-1"), "--moment '-1': expected a number of seconds from 0 to"),
    ],
)
def test_wrong_usage_is_told_in_one_line(arguments, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(("render", "balls", *arguments)) == 2
    assert line in error_line(capsys)
    assert os.listdir() == []


@pytest.mark.usefixtures("device")
def test_pictures_movie_and_statistics_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words, single = ("--size", "40x30", "--fps", "2"), ("--machine", "singlepass", "--spp", "2")
    words += (*single, "--exposure", "0")  # auto is the first frame's
    assert cli.main(("render", "balls", "--frames", "0-2", "-o", "f%02d.png", "--stats", "s.json", *words)) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.startswith("f%02d.png: 3 frames of 40 x 30, 31,200 triangles; ")
    assert sorted(os.listdir()) == ["f00.png", "f01.png", "f02.png", "s.json"]
    told = json.loads(Path("s.json").read_text())
    assert [each["time"] for each in told["frames"]] == [0, 0.5, 1]
    assert all(each["kernel_passes"] > 0 for each in told["frames"])
    for arguments in (
        ("--moment", "0.5"),
        ("--moment", "0.5", "--animation", "orbit"),
        ("--moment", "0.5", "--animation", "0"),
    ):
        assert cli.main(("render", "balls", "-o", "one.png", *words, *arguments)) == 0
        with Image.open("one.png") as one, Image.open("f01.png") as frame:
            assert np.array_equal(np.asarray(one), np.asarray(frame))
            assert frame.info["frame"] == "1" and frame.info["time"] == "0.5"
    assert cli.main(("render", "balls", "--frames", "0-2", "-o", "a.gif", "--quiet", *words)) == 0
    with Image.open("a.gif") as movie:
        assert movie.n_frames == 3


@pytest.mark.parametrize("output", ["f%d.png", "a.gif"])
@pytest.mark.usefixtures("device")
def test_an_interrupted_run_leaves_whole_files(output, tmp_path):
    command = [sys.executable, "-P", "-m", "raystream", "render", "balls", "--frames", "0-9999", "-o", output]
    command += ["--program", "cast", "--size", "160x120", "--quiet"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heeding)
    begin = time.monotonic()
    # A first whole frame, not the part of one; of a movie the part is all that there is.
    while not list(tmp_path.glob("f*.png" if output == "f%d.png" else ".*")) and time.monotonic() - begin < PATIENCE:
        time.sleep(0.05)
    time.sleep(0.7)
    child.send_signal(signal.SIGINT)
    try:
        _, err = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert (child.returncode, err) == (130, "raystream: stopped\n")
    left = sorted(os.listdir(tmp_path))
    if output == "a.gif":
        assert left == []
        return
    assert left == sorted(f"f{number}.png" for number in range(len(left))) and left
    for name in left:
        with Image.open(tmp_path / name) as picture:
            picture.load()


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
    before = renderer.render(SQUARE, 2).linear
    renderer.update(moment=0.5)
    other = Renderer(scene.posed(0.5), device=device, accel="two-level-bvh", **OPTIONS)
    shown = renderer.render(SQUARE, 2).linear
    np.testing.assert_array_equal(shown, other.render(SQUARE, 2).linear)
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


def test_the_words_of_one_line(device: Any, scene: Scene) -> None:
    """`render` and `render_frames` take the animation, too; a moment beyond its end, or of none, is told."""
    about = {"size": SQUARE, "spp": 1, "device": device, **OPTIONS}
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
    how = {"render": {"size": SQUARE, "spp": 1}, "device": device, "fps": 1, **OPTIONS}
    for animation, expected in (("stand", rest), (0, last)):
        (frame,) = render_frames(scene, range(1, 2), animation=animation, **how)
        np.testing.assert_array_equal(frame.picture.linear, expected)
