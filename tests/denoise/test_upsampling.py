"""Upsampling light to a picture of more pixels, filling it up, and warping a picture to another camera."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gl_objects import lent
from numpy.typing import NDArray
from wavelet_twin import through

from viewer.denoise.records import HISTORY, IRRADIANCE, LIT
from viewer.denoise.upsampling import SHOWN, Upsampling
from viewer.kernels.records import FEATURES
from viewer.scene.camera import Camera
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream

CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0), fov=50)
SMALL, LARGE = (10, 7), (40, 28)


@pytest.fixture(scope="module")
def upsampling(device: Device) -> Iterator[Upsampling]:
    yield from lent(device, Upsampling)


def stream(device: Device, record: Record, values: NDArray) -> Stream:
    made = Stream(device, record, values.shape[::-1])
    made.write(values)
    return made


def wall(size: tuple[int, int], step: int) -> tuple[NDArray, NDArray]:
    """`FEATURES` and `LIT` of a wall at z = 0, which from the column ``step`` on is nearer to the eye."""
    features, lit = np.zeros(size[::-1], FEATURES.dtype), np.zeros(size[::-1], LIT.dtype)
    view, _, _ = through(CAMERA, size)
    depth = np.where(np.arange(size[0]) < step, 4.0, 3.0)[None]
    features["normal"], features["albedo"] = (0, 0, 1), 0.5
    features["depth"] = depth * np.linalg.norm(view, axis=-1)
    features["hits"] = features["count"] = 1
    lit["normal"], lit["nearness"], lit["rgb"], lit["variance"] = (0, 0, 1), 1 / depth, 1, 0
    return features, lit


def drawn(upsampling: Upsampling, records: dict[str, NDArray], **options: Any) -> NDArray:
    """The picture of lit, light and features."""
    device = upsampling.device
    kinds = {"lit": LIT, "light": IRRADIANCE, "features": FEATURES}
    with device.current():
        if options.get("fills"):
            kinds["lit"] = HISTORY
        held = {name: stream(device, kinds[name], values) for name, values in records.items()}
        picture = upsampling.draw(**held, camera=CAMERA, **options).read()
        for each in held.values():
            each.release()
    return picture


def test_a_small_picture_is_drawn_up_along_a_large_picture_s_surfaces(upsampling: Upsampling) -> None:
    light, rng = np.zeros(SMALL[::-1], IRRADIANCE.dtype), np.random.default_rng(4)
    light["rgb"] = np.where(np.arange(SMALL[0]) < 5, 1, 4)[None, :, None]
    _, lit = wall(SMALL, 5)
    features, _ = wall(LARGE, 22)  # an edge that the small picture cannot have
    features["albedo"] = rng.uniform(0.2, 0.9, features["albedo"].shape)
    found = drawn(upsampling, {"lit": lit, "light": light, "features": features})
    expected = np.where(np.arange(LARGE[0]) < 22, 1, 4)[None, :, None] * features["albedo"]
    # Pixels of another surface weigh 1e-4 of three quarters, and shine 4 times as bright.
    np.testing.assert_allclose(found["rgb"], expected, rtol=3e-3)
    np.testing.assert_allclose(
        found["nearness"], np.where(np.arange(LARGE[0]) < 22, 1 / 4, 1 / 3)[None] + 0 * features["hits"], rtol=1e-5
    )


def test_a_silhouette_has_the_light_of_its_surface(upsampling: Upsampling) -> None:
    """The rays of the small picture miss the outermost pixels of the large one's surface: these are not black."""
    (features, _), (_, lit) = wall(LARGE, 40), wall(SMALL, 10)
    light = np.zeros(SMALL[::-1], IRRADIANCE.dtype)
    light["rgb"] = np.where(np.arange(SMALL[0]) < 6, 3, 0)[None, :, None]
    lit["nearness"][:, 6:] = 0  # the background
    found = drawn(upsampling, {"lit": lit, "light": light, "features": features})
    # The columns of background alone reach from 26 on; up to two light pixels farther there is a surface.
    np.testing.assert_allclose(found["rgb"][:, :34], 0.5 * 3, rtol=1e-5)


def test_at_the_same_size_light_and_texture_are_put_together(upsampling: Upsampling) -> None:
    features, lit = wall(SMALL, 5)
    light = np.zeros(SMALL[::-1], IRRADIANCE.dtype)
    light["rgb"] = np.random.default_rng(1).uniform(0, 2, light["rgb"].shape)
    features["emission"] = 0.25
    found = drawn(upsampling, {"lit": lit, "light": light, "features": features})
    np.testing.assert_allclose(found["rgb"], 0.5 * light["rgb"] + 0.25, rtol=1e-6)


@pytest.mark.parametrize(
    ("age", "alike", "even"), [(1, False, False), (1, True, False), (64, False, False), (1, False, True)]
)
def test_what_no_pixel_around_tells_is_filled_up(upsampling: Upsampling, age: float, alike: bool, even: bool) -> None:
    """Where surfaces are finer than pixels, of few samples; neither after many nor of light that is even."""
    size, rng = (24, 16), np.random.default_rng(7)
    features, lit = wall(size, 24)
    past, light = np.zeros(size[::-1], HISTORY.dtype), np.zeros(size[::-1], IRRADIANCE.dtype)
    for name in ("normal", "nearness"):
        past[name] = lit[name]
    if not alike:  # all face another way
        past["normal"] = rng.normal(size=(*size[::-1], 3))
        past["normal"] /= np.linalg.norm(past["normal"], axis=-1, keepdims=True)
    past["age"] = age
    light["rgb"] = 1.0 if even else np.where(rng.random(size[::-1]) < 0.2, 5.0, 0.0)[..., None]
    found = drawn(upsampling, {"lit": past, "light": light, "features": features}, fills=True)["rgb"] / 0.5
    spread = found[4:-4, 4:-4].std() / light["rgb"][4:-4, 4:-4].std() if not even else 1.0
    if even:
        np.testing.assert_allclose(found, 1.0, rtol=1e-5)
    elif age > 1:  # a fifth of all others face the same way, and weigh what they are: 1 / e is far behind
        assert spread > 0.7
    elif alike:  # 25 of one sample each: about half is filled, and what is five times as bright is held back
        assert 0.15 < spread < 0.5
    else:
        assert spread < 0.6  # 0.46 of it, measured: those that happen to face about the same way weigh most
        assert 0.7 < found.mean() / light["rgb"].mean() < 1.0  # what is held back waits for other samples


@pytest.mark.parametrize("age", [1, 64])
def test_a_lamp_found_by_chance_is_neither_a_dot_nor_a_square(upsampling: Upsampling, age: float) -> None:
    """A single bright pixel of first samples; after many it is what is there."""
    size = (24, 16)
    features, lit = wall(size, 24)
    past, light = np.zeros(size[::-1], HISTORY.dtype), np.full(size[::-1], 0, IRRADIANCE.dtype)
    for name in ("normal", "nearness"):
        past[name] = lit[name]
    past["age"] = age
    light["rgb"] = np.random.default_rng(2).uniform(0.9, 1.1, size[::-1])[..., None]
    light["rgb"][8, 12] = 100.0
    found = drawn(upsampling, {"lit": past, "light": light, "features": features}, fills=True)["rgb"][..., 0] / 0.5
    if age > 1:
        assert found[8, 12] > 90.0
        return
    others = np.delete(found, 8 * size[0] + 12)
    assert found[8, 12] < 2.0 and others.max() < 1.6, "of 5 x 5 pixels the mean was 5"


def world(camera: Camera, size: tuple[int, int]) -> NDArray:
    """`SHOWN` of a wall at z = 0 with a square before it, of colours that change smoothly along them."""
    made = np.zeros(size[::-1], SHOWN.dtype)
    view, _, _ = through(camera, size)
    origin = np.array(camera.origin)
    for z, half in ((0.0, np.inf), (1.0, 0.5)):
        depth = (z - origin[2]) / view[..., 2]
        place = origin + view * depth[..., None]
        hit = (np.abs(place[..., :2]) < half).all(-1)
        color = 0.5 + 0.3 * np.stack(
            [np.sin(2 * place[..., 0]), np.cos(2 * place[..., 1]), 0 * depth + z - 0.5], axis=-1
        )
        made["rgb"][hit], made["nearness"][hit] = color[hit], (1 / depth)[hit]
    return made


@pytest.mark.parametrize(
    "other",
    [
        CAMERA,
        replace(CAMERA, target=(0.3, 0.1, 0.0)),
        replace(CAMERA, origin=(0.2, 0.1, 3.7), target=(0.2, 0.1, 0.0)),
        replace(CAMERA, fov=44.0),
    ],
    ids=["the same", "turned", "moved", "zoomed"],
)
@pytest.mark.parametrize("size", [(96, 64), (64, 40)], ids=["large", "small"])
def test_a_picture_is_carried_to_another_camera(upsampling: Upsampling, other: Camera, size: tuple[int, int]) -> None:
    """Both planes are where the other camera sees them, but for what the picture does not show: beyond its margin, and
    what the square has hidden."""
    device, before = upsampling.device, world(CAMERA, (96, 64))
    with device.current():
        upsampling.release()
        upsampling._picture, upsampling._camera = stream(device, SHOWN, before), CAMERA
        target = Stream(device, SHOWN, size)
        upsampling.warp(other, target)
        found = target.read()
        target.release()
    expected = world(other, size)
    apart = np.abs(found["rgb"] - expected["rgb"]).max(axis=-1)
    # Colours change by 0.6 a unit, a pixel is 0.06 units wide: a place that is off by a third of a pixel is 0.012 off.
    right = (apart < 0.012).mean()
    assert right > (0.999 if other == CAMERA and size == (96, 64) else 0.85), right
    near = (found["nearness"] > 0.3) == (expected["nearness"] > 0.3)
    assert near.mean() > 0.97


def test_what_lies_behind_or_nowhere_is_defined(upsampling: Upsampling) -> None:
    """Sky stays sky, and a camera that has passed what was seen shows numbers."""
    device, before = upsampling.device, world(CAMERA, (32, 20))
    before["nearness"][:8] = 0
    with device.current():
        upsampling.release()
        upsampling._picture, upsampling._camera = stream(device, SHOWN, before), CAMERA
        target = Stream(device, SHOWN, (32, 20))
        for other in (replace(CAMERA, origin=(0.0, 0.0, 0.5)), replace(CAMERA, target=(0.0, 0.0, 9.0))):
            upsampling.warp(other, target)
            found = target.read()
            assert np.isfinite(found["rgb"]).all() and np.isfinite(found["nearness"]).all()
        upsampling.warp(replace(CAMERA, origin=(0.5, 0.0, 4.0), target=(0.5, 0.0, 0.0)), target)
        sky = target.read()
        target.release()
    np.testing.assert_allclose(sky["rgb"][:6], before["rgb"][:6], atol=1e-5)  # at infinity nothing moves
