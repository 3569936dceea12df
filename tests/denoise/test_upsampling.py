"""Upsampling light to a picture of more pixels, what a regression makes of few samples, and warping a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from alike_twin import through
from gl_objects import lent
from numpy.typing import NDArray
from surfaces import facing, features_of, release, stream

from raystream.denoise.reconstruction import FittedLight, Reconstruction
from raystream.denoise.records import IRRADIANCE, LIT, RELIEF
from raystream.denoise.upsampling import GUIDED, SHOWN, Upsampling
from raystream.kernels.records import FEATURES, FILM
from raystream.scene.camera import Camera
from raystream.scene.light import LUMINANCE
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream

CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0), fov=50)
SMALL, LARGE = (10, 7), (40, 28)


@pytest.fixture(scope="module")
def upsampling(device: Device) -> Iterator[Upsampling]:
    yield from lent(device, Upsampling)


@pytest.fixture(scope="module")
def regression(device: Device) -> Iterator[Reconstruction]:
    yield from lent(device, Reconstruction)


def wall(size: tuple[int, int], step: int) -> tuple[NDArray, NDArray]:
    """`FEATURES` and `LIT` of a wall at z = 0, which from the column ``step`` on is nearer to the eye."""
    lit = facing(size, np.where(np.arange(size[0]) < step, 1 / 4, 1 / 3)[None])
    lit["rgb"] = 1.0
    return features_of(lit, CAMERA), lit


DIM, TONE, POOLED, CONFIRMED = 0.04, 0.15, 160, 16  # of softening.glsl, soften_samples.glsl and unconfirmed.glsl


def neighbours(values: NDArray) -> NDArray:
    """(9, H, W, ...): the 3 x 3 of each pixel, row by row; beyond the edges the outermost pixels are repeated."""
    edged = np.pad(values, ((1, 1), (1, 1)) + ((0, 0),) * (values.ndim - 2), mode="edge")
    height, width = values.shape[:2]
    return np.stack([edged[k // 3 : k // 3 + height, k % 3 : k % 3 + width] for k in range(9)])


def softened(rgb: NDArray, samples: int, white: float = 1.0, film: NDArray | None = None, rays: int = 0) -> NDArray:
    """The twin of ``soften.glsl`` and ``soften_samples.glsl``, in float64, of a picture (H, W, 3). film : `FILM`
    where it has several samples."""
    around, dim = neighbours(rgb.astype(np.float64)), DIM * white
    center = raised = around[4]
    if film is None:
        luminance = around @ LUMINANCE
        second = np.sort(np.delete(luminance, 4, axis=0), axis=0)[1]
        raised = np.maximum(second / luminance[4], 1.0)[..., None] * center
    else:
        variance = (
            neighbours(film["square"].astype(np.float64) / np.maximum(film["count"] - 1, 1)).mean(axis=0) / samples
        )
        median = np.median(around, axis=0)
        excess = center - np.clip(center, median - TONE * (median + dim), median + TONE * (median + dim))
        noise, square = CONFIRMED * variance / POOLED, (np.abs(excess) @ LUMINANCE) ** 2
        center = raised = center - excess * np.where(square <= noise, 1.0, noise / np.maximum(square, 1e-30))[..., None]
    around[4] = raised
    binomial = np.outer((1, 2, 1), (1, 2, 1)).reshape(9, 1, 1)
    weights = binomial / (around @ LUMINANCE + raised @ LUMINANCE + dim)
    mean = (weights[..., None] * around).sum(axis=0) / weights.sum(axis=0)[..., None]
    return center + 2 / (1 + max(samples, min(rays, GUIDED))) * (mean - center)


def film_of(luminance: NDArray | float, deviation: NDArray | float, count: int) -> NDArray:
    """`FILM` of ``count`` samples of grey light that deviate so much."""
    shape = np.broadcast(luminance, deviation).shape or SMALL[::-1]
    film = np.zeros(shape, FILM.dtype)
    film["sum"], film["count"] = count * np.broadcast_to(luminance, shape)[..., None], count
    film["square"] = (count - 1) * np.square(deviation)
    return film


def even(rgb: NDArray) -> NDArray:
    """`RELIEF` of light that is the same of every normal."""
    made = np.zeros(rgb.shape[:2], RELIEF.dtype)
    made["rgb"], made["base"] = rgb, 1.0
    return made


def drawn(upsampling: Upsampling, lit: NDArray, relief: NDArray, features: NDArray, stride: int = 1) -> NDArray:
    """The picture of reliefs, on the surfaces of ``features``."""
    device = upsampling.device
    with device.current():
        held = stream(device, LIT, lit), stream(device, RELIEF, relief), stream(device, FEATURES, features)
        picture = upsampling.compose(FittedLight(*held[:2], stride), held[2], CAMERA).read()
        release(held)
    return picture


def fitted(regression: Reconstruction, upsampling: Upsampling, lit: NDArray, features: NDArray) -> NDArray:
    """(H, W, 3) of the regression of ``lit``, without texture."""
    device = upsampling.device
    with device.current():
        held = stream(device, LIT, lit), stream(device, FEATURES, features)
        lit = regression.steady(held[0], CAMERA, 1)
        steps = regression.fit(lit, lit, CAMERA)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                picture = upsampling.compose(end.value, held[1], CAMERA).read()
                break
        release(held)
    return picture["rgb"].astype(float) / 0.5


@pytest.mark.parametrize("stride", [1, 2])
def test_a_small_picture_is_drawn_up_along_a_large_picture_s_surfaces(upsampling: Upsampling, stride: int) -> None:
    size, rng = tuple(stride * n for n in SMALL), np.random.default_rng(4)
    _, lit = wall(size, 5 * stride)
    relief = even(np.broadcast_to(np.where(np.arange(SMALL[0]) < 5, 1, 4)[:, None], (*SMALL[::-1], 3)))
    features, _ = wall(LARGE, 19)  # an edge that the small picture cannot have
    features["albedo"] = rng.uniform(0.2, 0.9, features["albedo"].shape)
    found = drawn(upsampling, lit, relief, features, stride)
    expected = np.where(np.arange(LARGE[0]) < 19, 1, 4)[None, :, None] * features["albedo"]
    # Pixels of another surface weigh 1e-3 of three quarters, and shine 4 times as bright.
    np.testing.assert_allclose(found["rgb"], expected, rtol=3e-2)
    assert np.abs(found["rgb"] / expected - 1).mean() < 1e-3
    np.testing.assert_allclose(
        found["nearness"], np.where(np.arange(LARGE[0]) < 19, 1 / 4, 1 / 3)[None] + 0 * features["hits"], rtol=1e-5
    )


def test_relief_is_that_of_the_large_picture_s_normals(upsampling: Upsampling) -> None:
    """Within 0.25 and 3 times the light around."""
    lit, rng = facing(SMALL, 0.25), np.random.default_rng(9)
    relief = even(np.full((*SMALL[::-1], 3), 2.0))
    relief["gradient"], relief["base"] = (3.0, 1.0, -0.5), 1.2
    normal = rng.normal(size=(*LARGE[::-1], 3)) + (0, 0, 1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    features = features_of(facing(LARGE, 0.25, normal), CAMERA)
    share = 1.2 + normal @ (3.0, 1.0, -0.5)
    assert share.min() < 0 and share.max() > 3.5
    found = drawn(upsampling, lit, relief, features)
    np.testing.assert_allclose(found["rgb"], np.repeat(np.clip(share, 0.25, 3.0)[..., None], 3, -1), rtol=1e-4)


def test_a_silhouette_has_the_light_of_its_surface(upsampling: Upsampling) -> None:
    """The rays of the small picture miss the outermost pixels of the large one's surface: these are not black."""
    (features, _), (_, lit) = wall(LARGE, 40), wall(SMALL, 10)
    relief = even(np.broadcast_to(np.where(np.arange(SMALL[0]) < 6, 3, 0)[:, None], (*SMALL[::-1], 3)))
    lit["nearness"][:, 6:] = 0  # the background
    found = drawn(upsampling, lit, relief, features)
    # The columns of background alone reach from 26 on; up to two light pixels farther there is a surface.
    np.testing.assert_allclose(found["rgb"][:, :34], 0.5 * 3, rtol=1e-5)


def test_at_the_same_size_light_and_texture_are_put_together(upsampling: Upsampling) -> None:
    features, _ = wall(SMALL, 5)
    light, device = np.zeros(SMALL[::-1], IRRADIANCE.dtype), upsampling.device
    light["rgb"] = np.random.default_rng(1).uniform(0, 2, light["rgb"].shape)
    features["emission"] = 0.25
    with device.current():
        held = stream(device, IRRADIANCE, light), stream(device, FEATURES, features)
        found = upsampling.compose(*held, CAMERA).read()
        release(held)
    np.testing.assert_allclose(found["rgb"], 0.5 * light["rgb"] + 0.25, rtol=1e-6)
    np.testing.assert_allclose(found["nearness"], wall(SMALL, 5)[1]["nearness"], rtol=1e-6)


@pytest.mark.parametrize(("samples", "later", "rays"), [(1, 0, 0), (1, 0, 4), (4, 0, 16), (4, 3, 0), (63, 0, 32)])
@pytest.mark.parametrize("white", [1.0, 30.0])
def test_softening_is_its_twin(upsampling: Upsampling, samples: int, later: int, rays: int, white: float) -> None:
    """Of a film that may have more samples by now; another denoiser's picture alike, and a warp begins with it."""
    features, _ = wall(SMALL, 5)
    light, device, rng = np.zeros(SMALL[::-1], IRRADIANCE.dtype), upsampling.device, np.random.default_rng(1)
    light["rgb"] = rng.uniform(0, 2, light["rgb"].shape)
    noisy = film_of(0.5, 10.0 * rng.uniform(0, 1, SMALL[::-1]) ** 3, samples + later)
    with device.current():
        inputs = [stream(device, IRRADIANCE, light), stream(device, FEATURES, features), stream(device, FILM, noisy)]
        composed = upsampling.compose(*inputs[:2], CAMERA)
        before, result = composed.read(), upsampling.soften(composed, samples, white, inputs[2], CAMERA, rays).read()
        # No longer the one made last.
        other = upsampling.soften(composed, samples, white, inputs[2], CAMERA, rays).read()
        same = Stream(device, SHOWN, SMALL)
        upsampling.warp(CAMERA, same)
        warped = same.read()
        release([*inputs, same])
    expected = softened(before["rgb"], samples, white, noisy if samples > 1 else None, rays)
    np.testing.assert_allclose(result["rgb"], expected, rtol=1e-6)  # float32: 2.1e-7 at most measured
    np.testing.assert_array_equal(result["nearness"], before["nearness"])
    np.testing.assert_array_equal(other, result)
    np.testing.assert_allclose(warped["rgb"], result["rgb"], rtol=1e-3, atol=1e-4)


def test_what_stands_out_by_its_error_is_drawn_to_its_neighbours(upsampling: Upsampling) -> None:
    """Of light without noise a lamp stays, and so do steps and tones; in noise a dot is gone, until there are samples
    enough, bright or dark."""
    picture, device = np.zeros((12, 12), SHOWN.dtype), upsampling.device
    picture["rgb"][:, :6], picture["rgb"][:, 6:] = 0.25, 0.5
    picture["rgb"][3, 2], picture["rgb"][3, 9], picture["rgb"][8, 2] = 0.75, 0.125, 0.29
    at = [3, 3, 8, 8, 8], [2, 9, 2, 5, 6]

    def shown(deviation: float, samples: int) -> NDArray:
        film = film_of(picture["rgb"][..., 0], deviation, 4)
        with device.current():
            streams = stream(device, SHOWN, picture), stream(device, FILM, film)
            result = upsampling.soften(streams[0], samples, 1.0, streams[1], CAMERA).read()["rgb"][..., 0]
            release(streams)
        return result[at]

    few, many = 1 << 12, 1 << 20  # where the filter's share is less than 1e-3
    even, noisy = picture["rgb"][at][:, 0], (0.25 + TONE * 0.29, 0.5 - TONE * 0.54, 0.29, 0.25, 0.5)
    np.testing.assert_allclose(shown(0.0, few), even, rtol=2e-3)
    np.testing.assert_allclose(shown(100.0, few), noisy, rtol=2e-3)
    np.testing.assert_allclose(shown(100.0, many * few), even, rtol=2e-3)
    assert 0.4 < shown(67.0, few)[0] < 0.6 < shown(67.0, many)[0]


@pytest.mark.parametrize("white", [1e-3, 1.0, 1e3])
def test_an_edge_before_black_is_smooth(upsampling: Upsampling, white: float) -> None:
    """A grey thing before nothing: the pixels on both sides of its edge are between, whatever the scene's light."""
    picture, device = np.zeros((9, 9), SHOWN.dtype), upsampling.device
    picture["rgb"][:, 5:] = 0.3 * white
    with device.current():
        edge = stream(device, SHOWN, picture)
        row = upsampling.soften(edge, 1, white, edge, CAMERA).read()["rgb"][4, :, 0] / white
        release([edge])
    np.testing.assert_allclose(row[[2, 3, 6, 7]], (0, 0, 0.3, 0.3), rtol=1e-5)
    black, grey = 12 / 0.04, 4 / 0.34
    np.testing.assert_allclose(row[4], 0.3 * grey / (black + grey), rtol=1e-5)
    # Sixteen parts: 12 of grey, 4 of black.
    np.testing.assert_allclose(row[5], 0.3 * (12 / 0.64) / (12 / 0.64 + 4 / 0.34), rtol=1e-5)


def test_a_softened_lamp_neither_glows_nor_fades(upsampling: Upsampling) -> None:
    """A pixel a thousand times as bright leaves those around as they are, and stays as bright as a screen can show; an
    edge of two tones is between them."""
    picture, device = np.zeros((9, 9), SHOWN.dtype), upsampling.device
    picture["rgb"][:, :5], picture["rgb"][:, 5:] = 0.25, 0.5
    picture["rgb"][2, 2] = 250.0
    picture["rgb"][1, 7], picture["rgb"][6, 6:] = 0.1, 0.1
    with device.current():
        dotted = stream(device, SHOWN, picture)
        result = upsampling.soften(dotted, 1, 1.0, dotted, CAMERA).read()["rgb"][..., 0]
        eyes = replace(CAMERA, eyes=0.1)
        assert upsampling.soften(dotted, 1, 1.0, dotted, eyes) is dotted, "two eyes are not mixed"
        release([dotted])
    np.testing.assert_allclose(result[1, 1:4], 0.25, rtol=0.5)
    assert result[2, 2] > 20.0
    assert 0.25 < result[4, 4] < 0.35 < result[4, 5] < 0.5
    assert result[1, 7] == pytest.approx(0.5), "a dot is gone"
    assert result[6, 7] < 0.35, "a line is not"


@pytest.mark.parametrize(("turned", "most"), [(0.0, 0.1), (0.4, 0.6), (4.0, 0.9)], ids=["wall", "leaves", "every way"])
def test_what_no_pixel_around_tells_is_taken_from_around(
    regression: Reconstruction, upsampling: Upsampling, turned: float, most: float
) -> None:
    """Of one sample, of which a fifth find the lamp: on a wall, on leaves, and where hardly two pixels face about the
    same way. 0.02, 0.47 and 0.74 of the noise are left."""
    size, rng = (24, 16), np.random.default_rng(7)
    lit = facing(size, 0.25)
    lit["normal"] += turned * rng.normal(size=lit["normal"].shape)
    lit["normal"][..., 2] = np.abs(lit["normal"][..., 2])
    lit["normal"] /= np.linalg.norm(lit["normal"], axis=-1, keepdims=True)
    lit["rgb"] = np.where(rng.random(size[::-1]) < 0.2, 5.0, 0.0)[..., None]
    lit["variance"] = -1.0
    found = fitted(regression, upsampling, lit, features_of(lit, CAMERA))
    left = found[4:-4, 4:-4].std() / lit["rgb"][4:-4, 4:-4].std()
    assert left < most
    assert found.mean() == pytest.approx(lit["rgb"].mean(), rel=0.15)
    assert (found < 0.1).mean() < 0.8 * most, "of 4 in 5 the sample is black"


def test_a_lamp_found_by_chance_is_neither_a_dot_nor_a_square(
    regression: Reconstruction, upsampling: Upsampling
) -> None:
    """A single bright pixel of first samples: its light is not lost, and has no edges. On the screen it is twice as
    bright as what is around, where it was a hundred times."""
    size = 24, 16
    features, lit = wall(size, 24)
    lit["rgb"] = np.random.default_rng(2).uniform(0.9, 1.1, size[::-1])[..., None]
    lit["rgb"][8, 12] = 100.0
    lit["variance"] = -1.0
    found = fitted(regression, upsampling, lit, features)[..., 0]
    assert found[8, 12] < 2.4, "2.21 measured"
    assert max(np.abs(np.diff(found, axis=axis)).max() for axis in (0, 1)) < 0.4, "of 5 x 5 pixels the mean was 5"
    assert found.mean() == pytest.approx(lit["rgb"].mean(), rel=0.05)


def world(camera: Camera, size: tuple[int, int], side: float = 1.0) -> NDArray:
    """`SHOWN` of a wall at z = 0 with a square before it, of colours that change smoothly along them."""
    made = np.zeros(size[::-1], SHOWN.dtype)
    view, _, _ = through(camera, size)
    origin = np.array(camera.origin)
    for z, half in ((0.0, np.inf), (1.0, side / 2)):
        depth = (z - origin[2]) / view[..., 2]
        place = origin + view * depth[..., None]
        hit = (np.abs(place[..., :2]) < half).all(-1)
        color = 0.5 + 0.3 * np.stack(
            [np.sin(2 * place[..., 0]), np.cos(2 * place[..., 1]), 0 * depth + z - 0.5], axis=-1
        )
        made["rgb"][hit], made["nearness"][hit] = color[hit], (1 / depth)[hit]
    return made


def warped(upsampling: Upsampling, picture: NDArray, camera: Camera, size: tuple[int, int]) -> NDArray:
    """A picture of `SHOWN`, as `CAMERA` sees it, drawn as another camera does."""
    device = upsampling.device
    with device.current():
        upsampling.release()
        upsampling._picture, upsampling._camera = stream(device, SHOWN, picture), CAMERA
        target = Stream(device, SHOWN, size)
        upsampling.warp(camera, target)
        values = target.read()
        target.release()
    return values


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
    found, expected = warped(upsampling, world(CAMERA, (96, 64)), other, size), world(other, size)
    apart = np.abs(found["rgb"] - expected["rgb"]).max(axis=-1)
    # Colours change by 0.6 a unit, a pixel is 0.06 units wide: a place that is off by a third of a pixel is 0.012 off.
    right = (apart < 0.012).mean()
    assert right > (0.999 if other == CAMERA and size == (96, 64) else 0.85), right
    near = (found["nearness"] > 0.3) == (expected["nearness"] > 0.3)
    assert near.mean() > 0.97


def test_a_wall_stays_in_place_while_the_camera_turns_and_comes_nearer(upsampling: Upsampling) -> None:
    """Of what the picture shows, all is within a third of a pixel of its place, as above."""
    size = 96, 64
    other = replace(CAMERA, origin=(-0.5, 0.3, 3.0), target=(0.7, -0.2, 0.0))
    before, expected = world(CAMERA, size, 0.0), world(other, size, 0.0)
    found = warped(upsampling, before, other, size)
    view, _, _ = through(other, size)
    places = CAMERA.project((other.origin + view / expected["nearness"][..., None]).reshape(-1, 3), size)
    shown = ((places > 1) & (places < np.array(size) - 1)).all(axis=1).reshape(size[::-1])
    apart = np.abs(found["rgb"] - expected["rgb"]).max(axis=-1)[shown]
    off = np.abs(found["nearness"] / expected["nearness"] - 1)[shown]
    assert shown.mean() > 0.8 and apart.max() < 0.012 and off.max() < 0.02  # which two steps leave of a place


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
