"""Motion blur of moments and frames: sequences, the turntable, the command, resumed pictures, notes and errors."""

from __future__ import annotations

import numpy as np
import places
import pytest
from motion import OPTIONS, SIZE, VIEW, assert_alike, passing, sliding, square

import raystream
from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.cli import main as cli
from raystream.film.files import image
from raystream.renderer.sequence import render_frames
from raystream.scene.animation import turntable as turned
from raystream.scene.exposure import exposed, key_count
from raystream.scene.material import Material
from raystream.scene.mesh import Instance
from raystream.scene.scene import Scene
from raystream.stream.gl.device import Device


def test_a_shutter_of_no_time_is_a_still(device):
    scene = sliding()
    assert exposed(scene, 0.25, 0.25).instances[0].motion is None
    one, other = (Renderer(each, **OPTIONS) for each in (exposed(scene, 0.25, 0.25), scene.posed(0.25)))
    assert one.render(SIZE, spp=4).linear.tobytes() == other.render(SIZE, spp=4).linear.tobytes()
    # Nothing moves before the animation's end.
    later = exposed(scene, 2.0, 3.0)
    assert key_count(later) == 1


def test_frames_are_exposed_each_for_its_own_time(device):
    """Of two frames a second: half of the way, and the other half."""
    scene = sliding()
    made = list(render_frames(scene, range(2), fps=2, shutter=(0, 1), render={"size": SIZE, "spp": 16}, **OPTIONS))
    for k, frame in enumerate(made):
        other = places.picture(exposed(scene, k / 2, (k + 1) / 2), SIZE, 16, **OPTIONS)
        assert np.array_equal(frame.picture.linear, other.linear)
    alone = raystream.render(scene, moment=0.5, fps=2, shutter="0,1", size=SIZE, spp=16, **OPTIONS)
    assert np.array_equal(alone.linear, made[1].picture.linear)


def test_pictures_tell_of_motion_and_go_on_with_the_same_alone(device, tmp_path):
    file = str(tmp_path / "slide.exr")
    for scene, other in (
        (exposed(sliding(), 0.0, 1.0), exposed(sliding(), 0.0, 0.5)),
        (exposed(passing(), 0.0, 1.0), exposed(passing(), 0.0, 0.5)),
    ):
        whole, half, wrong = (Renderer(each, **OPTIONS) for each in (scene, scene, other))
        part = half.render(SIZE, spp=4)
        assert part.metadata["motion keys"] == "2"
        part.save(file)
        assert np.array_equal(half.render(SIZE, spp=8, resume=file).linear, whole.render(SIZE, spp=8).linear)
        with pytest.raises(ViewerError, match=r"another scene|camera motion"):
            wrong.render(SIZE, spp=8, resume=file)


@pytest.mark.parametrize("accel", ["two-level-bvh", "bvh"])
def test_later_frames_compile_nothing(device, accel, monkeypatch):
    """Their keys take the places of the first one's."""
    scene, compiled, program = sliding(), [], Device.program
    shown = {"size": SIZE, "spp": 4}
    frames = render_frames(scene, range(3), fps=4, shutter=(0, 1), render=shown, **OPTIONS, accel=accel)
    first = next(frames)
    monkeypatch.setattr(Device, "program", lambda *a, **k: compiled.append(a) or program(*a, **k))
    later = list(frames)
    assert not compiled
    for k, frame in enumerate(later, 1):
        other = places.picture(exposed(scene, k / 4, (k + 1) / 4), **shown, **OPTIONS, accel=accel)
        assert np.array_equal(frame.picture.linear, other.linear)
    assert not np.array_equal(first.picture.linear, later[0].picture.linear)


def test_the_turntable_blurs(device):
    """A quarter of the turn in each of four frames: against stills along the first of them."""
    scene = Scene([square(0.3)], [Instance(0, np.array([[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))])
    scene.materials = [Material(emission=(1.0, 1.0, 1.0), double_sided=True)]
    scene.cameras = [VIEW]
    shown = {"size": SIZE, "spp": 256}
    (first,) = (
        frame.picture
        for frame in render_frames(scene, range(4), turntable=True, shutter=(0, 0.5), render=shown, **OPTIONS)
        if frame.number == 0
    )
    bounds = scene.bounds(ground=False)
    renderer, means, noise = Renderer(scene, **OPTIONS), [], []
    for k in range(48):
        renderer.update(camera=turned(VIEW, bounds, (k + 0.5) / 48 / 8), seed=k)
        film = renderer.render(SIZE, spp=8).film
        means.append(film.mean().mean(axis=-1, dtype=np.float64))
        noise.append(film.variance().astype(np.float64))
    film = first.film
    blurred = film.mean().mean(axis=-1, dtype=np.float64), film.variance().astype(np.float64)
    assert_alike(blurred, (np.mean(means, axis=0), np.sum(noise, axis=0) / 48**2), bias=1.5 / 48)


def test_the_command_exposes_a_moment_and_frames(device, tmp_path):
    """As Python does."""
    common = ["--size", "24", "--spp", "2", "--fps", "2", "--shutter", "0,0.5", "--quiet"]
    moment, frames = str(tmp_path / "moment.exr"), str(tmp_path / "f%d.exr")
    assert cli.main(["render", "balls", "--moment", "1", "-o", moment, *common]) == 0
    assert cli.main(["render", "balls", "--frames", "2-3", "-o", frames, *common]) == 0
    one, two, three = (read_exr(each) for each in (moment, str(tmp_path / "f2.exr"), str(tmp_path / "f3.exr")))
    expected = raystream.render("balls", moment=1.0, shutter=(0, 0.5), fps=2, size=24, spp=2).linear
    assert np.array_equal(one, expected) and np.array_equal(one, two)
    assert not np.array_equal(two, three)


def read_exr(path: str) -> np.ndarray:
    _, channels = image.read_exr(path, list("RGB"))
    return np.stack([channels[name] for name in "RGB"], axis=-1)


def test_a_program_without_samples_shows_the_first_moment(device):
    scene = sliding()
    one, other = (Renderer(each, program="cast") for each in (exposed(scene, 0.25, 1.0), scene.posed(0.25)))
    assert np.array_equal(one.render(SIZE).linear, other.render(SIZE).linear)
    assert any("the moment at which the shutter opens" in note for note in one.notes) and not other.notes


def test_first_hits_fall_back_to_rays(device):
    renderer = Renderer(
        exposed(sliding(), 0.0, 1.0), **{**OPTIONS, "accel": "bvh"}, first_hits="raster", offsets="sample"
    )
    assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == "rays"
    assert any("the shutter is open for a while; first hits are found by rays" in note for note in renderer.notes)
    shared = Renderer(exposed(sliding(), 0.0, 1.0), **OPTIONS, eye_rays="shared")
    assert shared.gpu_scene.first_hits(shared.settings, shared.camera).mode == "rays" and any(
        "shutter" in note for note in shared.notes
    )


def test_what_is_wrong_is_told_in_a_line(device):
    scene = sliding()
    for shutter, words in (
        ("0,1.5", "two numbers from 0 to 1"),
        ("0.5,0.2", "closes at 0.2, before it opens"),
        ("1", "two"),
    ):
        with pytest.raises(ViewerError, match=words):
            raystream.render(scene, moment=0.0, shutter=shutter, size=SIZE, spp=1)
    for keys in (1, 34, "few"):
        with pytest.raises(ViewerError, match="auto or a whole number from 2 to 33"):
            raystream.render(scene, moment=0.0, shutter=(0, 1), motion_keys=keys, size=SIZE, spp=1)
    with pytest.raises(ViewerError, match="closes at"):
        exposed(scene, 1.0, 0.5)
