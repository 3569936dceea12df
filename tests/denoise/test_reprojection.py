"""Temporal reprojection on the device: against its twin, and on motions of which the right answer is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from alike_twin import through
from gl_objects import living
from history_twin import blended
from numpy.typing import NDArray

from raystream.denoise.records import FLOW, HISTORY, IRRADIANCE, LIT
from raystream.denoise.reprojection import CHANCE, CHANCE_RELIT, LONGEST, LONGEST_RELIT, Changes, History
from raystream.kernels.records import FEATURES
from raystream.scene.camera import Camera
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream

SIZE = 40, 28
CAMERA = Camera((0.3, 0.5, 4.0), (0.0, 0.0, 0.0))
BOX = 0.8  # z of a square's plane before the wall at z = 0, and half its side
LEFT = [(90, 91, np.eye(4))]  # something that is not in the picture
RIGHT = np.array([[1, 0, 0, -0.25], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])  # from now to then


@pytest.fixture(scope="module")
def history(device: Device) -> History:
    with device.current():
        return History(device)


def seen(camera: Camera, size: tuple[int, int] = SIZE, middle: float = 0.0) -> tuple[NDArray, NDArray]:
    """Records of `LIT` and `FEATURES`: a wall, triangles 0 and 1, with a square before it, 2 and 3, around x = middle.
    Their light is 1, its variance not known."""
    lit, features = np.zeros(size[::-1], LIT.dtype), np.zeros(size[::-1], FEATURES.dtype)
    view, _, _ = through(camera, size)
    origin = np.array(camera.origin)
    square = origin + view * ((BOX - origin[2]) / view[..., 2])[..., None]
    hit = (np.abs(square[..., :2] - (middle, 0)) < BOX).all(-1)
    depth = (np.where(hit, BOX, 0) - origin[2]) / view[..., 2]  # along the view's axis, on which the view is 1
    lit["normal"], lit["nearness"], lit["rgb"], lit["variance"] = (0, 0, 1), 1 / depth, 1, -1
    features["triangle"], features["instance"] = np.where(hit, 2, 0), hit
    return lit, features


def run(
    history: History,
    pictures: list[tuple[NDArray, NDArray, Camera]],
    changes: Changes | None = None,
    light: NDArray | None = None,
    last: int = 1,
    flow: NDArray | None = None,
) -> NDArray:
    """The last of the pictures, records of `HISTORY`; light : of the one before, records of `IRRADIANCE` (without: its
    own). changes : before each of the last ones. flow : of the last one, records of `FLOW`."""
    device = history.device
    with device.current():
        history.forget()
        for number, (lit, features, camera) in enumerate(pictures):
            size = lit.shape[::-1]
            if number:
                history.turn()
            history.changes = (changes or Changes()) if number >= len(pictures) - last else Changes()
            streams = Stream(device, LIT, size), Stream(device, FEATURES, size)
            for stream, records in zip(streams, (lit, features), strict=True):
                stream.write(records)
            carried = None
            if flow is not None and number == len(pictures) - 1:
                carried = Stream(device, FLOW, size)
                carried.write(flow)
            made = history.blend(*streams, camera, 1, carried).read()
            if light is not None and number == len(pictures) - 2:
                made["rgb"], made["variance"] = light["rgb"], light["variance"]
                history._now.streams["past"].write(made)
            for stream in streams:
                stream.release()
        history.changes = Changes()
    return made


def moved(camera: Camera = CAMERA) -> Camera:
    return replace(camera, origin=(0.7, 0.42, 3.8), target=(0.3, 0.0, 0.1))


@pytest.mark.parametrize("case", ["camera", "object", "instances", "another size"])
def test_the_picture_is_the_twin_s(history: History, case: str) -> None:
    rng = np.random.default_rng(3)
    before, features = seen(CAMERA, (30, 21) if case == "another size" else SIZE)
    now, now_features = seen(moved(), middle=0.25 if case in ("object", "instances") else 0.0)
    for lit in (before, now):
        lit["rgb"] = rng.gamma(0.5, 2.0, lit["rgb"].shape)
    now["rgb"][:, :8] = 0  # light that has gone
    now["variance"][20:] = rng.uniform(0, 1, now["variance"][20:].shape)
    light = np.zeros(before.shape, IRRADIANCE.dtype)
    light["rgb"], light["variance"] = rng.uniform(0.5, 1.5, (*light.shape, 3)), rng.uniform(0, 1, light.shape)
    rows: Any = {"object": [(2, 4, RIGHT)], "instances": [(1, 2, RIGHT)]}.get(case, [])
    changes = Changes(rows, flat=case != "instances")
    found = run(history, [(before, features, CAMERA), (now, now_features, moved())], changes, light)
    first = run(history, [(before, features, CAMERA)])
    first["rgb"], first["variance"] = light["rgb"], light["variance"]
    limits = (LONGEST_RELIT, CHANCE_RELIT) if rows else (LONGEST, CHANCE)
    expected = blended(now, moved(), now_features, first, CAMERA, *limits, moved=rows, flat=case != "instances")
    assert (expected["age"] > 1.2).mean() > 0.3 and (expected["age"] == 1).any()  # both are there
    for name in HISTORY.dtype.names or ():
        # float32: a place in the picture has five digits, and weights are eighth powers
        off = np.abs(found[name] - expected[name]) > 2e-3 * (1 + np.abs(expected[name]))
        # a tap on the limit of what counts as alike may fall to either side
        assert off.mean() < 0.003, name


def floor(camera: Camera, size: tuple[int, int] = SIZE) -> tuple[NDArray, NDArray]:
    """Records of `LIT` and `FEATURES` of a floor at y = 0, and of nothing above its horizon."""
    lit, features = np.zeros(size[::-1], LIT.dtype), np.zeros(size[::-1], FEATURES.dtype)
    view, _, _ = through(camera, size)
    nearness = -view[..., 1] / camera.origin[1]  # along the view's axis, on which the view is 1
    hit = nearness > 0
    lit["nearness"], lit["variance"] = np.where(hit, nearness, 0), -1
    lit["normal"][hit], lit["rgb"][hit], features["triangle"] = (0, 1, 0), 1, np.where(hit, 0, -1)
    return lit, features


def test_a_floor_that_is_grazed_keeps_its_past(history: History) -> None:
    """From a pixel to the next its depth changes by a third and more; the twin's past is that of the shader."""
    before = Camera((0.0, 0.2, 3.0), (0.0, 0.0, 0.0))
    now = Camera((0.1, 0.22, 2.9), (0.1, 0.0, 0.0))
    pictures = [(*floor(before), before), (*floor(now), now)]
    made = run(history, pictures)
    hit = pictures[1][0]["nearness"] > 0
    expected = blended(*pictures[1][:1], now, pictures[1][1], run(history, pictures[:1]), before, LONGEST, CHANCE)
    assert (made["age"][hit] > 1.9).mean() > 0.95 and (made["age"][~hit] == 1).all()
    # a tap on the limit of what counts as alike may fall to either side
    assert (np.abs(made["age"] - expected["age"]) > 0.01).mean() < 0.003


def test_a_point_s_past_is_found_wherever_it_is_seen(history: History) -> None:
    """Light that is a function of the place in the world: what the past adds is that of the same place."""

    def shine(camera: Camera) -> NDArray:
        lit, _ = seen(camera)
        view, _, _ = through(camera, SIZE)
        place = view / lit["nearness"][..., None] + camera.origin
        return np.repeat(1 + 0.3 * np.sin(2 * place[..., :1]), 3, axis=-1)

    (before, features), (now, now_features) = seen(CAMERA), seen(moved())
    before["rgb"], now["rgb"] = shine(CAMERA), shine(moved())
    made = run(history, [(before, features, CAMERA), (now, now_features, moved())])
    assert (made["age"] == 2).mean() > 0.8
    off = np.abs(made["rgb"] - now["rgb"])
    # bilinear taps of a sine whose waves are 50 pixels long; at edges, where fewer than four are of the surface, half
    # a pixel aside of a slope of 0.6 / 14 pixels
    assert off.max() < 0.03 and (off < 2e-3).mean() > 0.9


def test_what_was_hidden_has_no_past(history: History) -> None:
    (before, features), (now, now_features) = seen(CAMERA), seen(CAMERA, middle=0.5)
    before["rgb"][features["triangle"] == 2] = 9  # would shine through
    made = run(history, [(before, features, CAMERA), (now, now_features, CAMERA)], Changes([(2, 4, RIGHT)]))
    uncovered = (features["triangle"] == 2) & (now_features["triangle"] == 0)
    assert uncovered.sum() > 40
    np.testing.assert_array_equal(made["age"][uncovered], 1)
    np.testing.assert_array_equal(made["rgb"][uncovered], 1)
    outside = run(history, [(before, features, CAMERA), (*seen(aside := replace(CAMERA, target=(9, 0, 0))), aside)])
    assert (outside["age"][:, -10:] == 1).all()


def test_an_object_that_moves_takes_its_past_along(history: History) -> None:
    (before, features), (now, now_features) = seen(CAMERA), seen(CAMERA, middle=0.25)
    square, was = now_features["triangle"] == 2, features["triangle"] == 2
    before["rgb"][was], now["rgb"][square] = 3, 3
    pictures = [(before, features, CAMERA), (now, now_features, CAMERA)]
    carried, still = run(history, pictures, Changes([(2, 4, RIGHT)])), run(history, pictures)
    # all of the square but its edge; without its motion what lies ahead of it has been the wall's
    assert (carried["age"][square] > 1.9).mean() > 0.9
    assert (carried["age"][square & ~was] > 1.9).mean() > 0.6 and (still["age"][square & ~was] == 1).all()
    np.testing.assert_allclose(carried["rgb"][square], 3, rtol=1e-5)
    np.testing.assert_allclose(carried["rgb"][~square & ~was], 1, rtol=1e-5)


def test_an_object_that_deforms_takes_its_past_along(history: History) -> None:
    """A flow of the motion's length is worth the motion, to a few bits; and a turn finds the past of another normal."""
    (before, features), (now, now_features) = seen(CAMERA), seen(CAMERA, middle=0.25)
    square, was = now_features["triangle"] == 2, features["triangle"] == 2
    before["rgb"][was], now["rgb"][square] = 3, 3
    before["normal"][was] = (0, 0.28, 0.96)  # it has turned since
    flow = np.zeros(now.shape, FLOW.dtype)
    flow["shift"][square] = RIGHT[:3, 3]
    pictures = [(before, features, CAMERA), (now, now_features, CAMERA)]
    unturned = run(history, pictures, Changes(posed=True), flow=flow)
    flow["normal_change"][square] = (0, 0.28, -0.04)
    carried = run(history, pictures, Changes(posed=True), flow=flow)
    assert (carried["age"][square] > 1.9).mean() > 0.7 and (unturned["age"][square] == 1).mean() > 0.9
    np.testing.assert_allclose(carried["rgb"][square], 3, rtol=1e-5)


def test_light_that_goes_leaves_no_trail(history: History) -> None:
    """A lamp goes out: what is left after a picture is what chance may hide from the pixels around, here nothing."""
    (lit, features), dark = seen(CAMERA), seen(CAMERA)[0]
    dark["rgb"] = 0
    on = [(lit, features, CAMERA)] * 8
    made = run(history, [*on, (dark, features, CAMERA)])
    assert made["rgb"].max() < 1e-3 and made["age"].max() < 1.1
    np.testing.assert_allclose(run(history, on)["age"], 8, rtol=1e-5)


def test_noisy_light_that_goes_is_gone_three_pictures_later(history: History) -> None:
    rng, (lit, features) = np.random.default_rng(6), seen(CAMERA)
    pictures = []
    for number in range(15):
        each = lit.copy()
        each["rgb"] = rng.gamma(0.5, 2.0, (*lit.shape, 1)) * (number < 12)
        pictures.append((each, features, CAMERA))
    assert 0.9 < run(history, pictures[:12])["rgb"].mean() < 1.1
    # The shorter history alone keeps 0.63 of it.
    assert run(history, pictures, Changes(relit=True), last=3)["rgb"].mean() < 0.15


def test_rare_light_keeps_its_mean(history: History) -> None:
    """One pixel in thirty is lit in each picture: clipping must not take its light away."""
    rng, pictures = np.random.default_rng(1), []
    lit, features = seen(CAMERA)
    for _ in range(24):
        each = lit.copy()
        each["rgb"] = 30 * (rng.random((*lit.shape, 1)) < 1 / 30)
        pictures.append((each, features, CAMERA))
    made = run(history, pictures)
    # The first pictures know little of the noise. Sparse light of 24 pictures: 5 % of noise in the mean.
    assert 0.75 < made["rgb"].mean() < 1.15


@pytest.mark.parametrize(("changes", "samples"), [(Changes(), 32), (Changes(relit=True), 6), (Changes(LEFT), 6)])
def test_the_past_counts_as_so_many_samples(history: History, changes: Changes, samples: int) -> None:
    """At most, where light falls otherwise or something moves less; beside what the picture itself has."""
    lit, features = seen(CAMERA)
    made = run(history, [(lit, features, CAMERA)] * (samples + 3), changes, last=2)
    assert made["age"].max() == pytest.approx(samples + 1, rel=1e-5)


def test_no_share_no_past(history: History) -> None:
    lit, features = seen(CAMERA)
    now = lit.copy()
    now["rgb"] = 1.2
    history.share = 0.0
    try:
        made = run(history, [(lit, features, CAMERA), (now, features, CAMERA)])
    finally:
        history.share = 1.0
    np.testing.assert_array_equal(made["rgb"], now["rgb"])


def test_what_is_released_leaves_no_texture_and_no_past(device: Device) -> None:
    """Though the history itself is still there."""
    fresh = History(device)
    before = living(device)
    run(fresh, [(*seen(CAMERA), CAMERA)] * 2)
    assert fresh.there and living(device)["Texture"] > before["Texture"]
    with device.current():
        fresh.release()
    assert not fresh.there and living(device)["Texture"] == before["Texture"]
