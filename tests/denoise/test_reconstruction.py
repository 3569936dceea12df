"""What the eye gets of a film at rest: every pass beside its NumPy twin, on films where each of its terms acts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import reconstruction_twin as twin
import regression_twin
from alike_twin import demodulated, surface_in, surface_of, with_surface
from gl_objects import lent
from numpy.typing import NDArray
from surfaces import facing, features_of, fluted, release, stream

from raystream.denoise.reconstruction import BLOCK, DETAIL_REACHES, PASSES, Reconstruction
from raystream.denoise.records import LIT, RELIEF, RESIDUAL, view_uniforms
from raystream.kernels.records import FEATURES, FILM
from raystream.scene.camera import Camera
from raystream.scene.light import LUMINANCE
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import PassSet
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import returned

SIZE = 24, 16
CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
WALL = 0.25  # nearness of a wall at z = 0
FLOOR, THING, OTHER = (int(surface_of(number)) for number in range(3))


@pytest.fixture(scope="module")
def reconstruction(device: Device) -> Iterator[Reconstruction]:
    yield from lent(device, Reconstruction)


@pytest.fixture(scope="module")
def passes(device: Device) -> PassSet:
    return PassSet(device, "film/denoise", PASSES)


def drawn(
    passes: PassSet, name: str, *records: NDArray, size: tuple[int, int] | None = None, **uniforms: Any
) -> NDArray:
    """The records of a pass. records : of its inputs, in their order. size : of the output; None: of the first."""
    device, (inputs, output) = passes.device, passes.declared[name]
    size = size or records[0].shape[::-1]
    with device.current():
        streams = {
            key: stream(device, record, values) for (key, record), values in zip(inputs.items(), records, strict=True)
        }
        made = Stream(device, output, size)
        passes.draw(name, streams, made, **view_uniforms(CAMERA, size), **uniforms)
        found = made.read()
        release((*streams.values(), made))
    return found


def light_of(reconstruction: Reconstruction, lit: NDArray, samples: int) -> NDArray:
    """(H, W, 3), by all passes."""
    device = reconstruction.device
    with device.current():
        held = stream(device, LIT, lit), stream(device, FEATURES, features_of(lit, CAMERA))
        found = returned(reconstruction.light(*held, CAMERA, samples)).read()["rgb"].astype(float)
        release(held)
    return found


def wall(size: tuple[int, int] = SIZE, variance: NDArray | float = 0.0) -> NDArray:
    """`LIT` of a single wall of light 1."""
    lit = facing(size, WALL)
    lit["rgb"], lit["variance"] = 1.0, with_surface(np.broadcast_to(variance, size[::-1]), THING)
    return lit


def noisy(size: tuple[int, int], samples: int, spread: float, seed: int = 4) -> NDArray:
    """`LIT` of a wall of light 1 with normal noise of a standard deviation of a sample; its variance is that of the
    samples."""
    lit, rng = wall(size), np.random.default_rng(seed)
    values = 1 + spread * rng.standard_normal((samples, *lit.shape))
    lit["rgb"] = values.mean(0)[..., None]
    lit["variance"] = with_surface(values.var(0, ddof=1) / samples, THING) if samples > 1 else -1.0
    return lit


def firefly(lit: NDArray, value: float, variance: float | None = None) -> NDArray:
    """With a lone pixel of another light; variance : None: as of two samples, of which one is dark."""
    lit = lit.copy()
    lit["rgb"][8, 6] = value
    if lit["variance"][8, 6] >= 0:
        lit["variance"][8, 6] = with_surface(value**2 if variance is None else variance, THING)
    return lit


def fireflies(samples: int, value: float) -> tuple[NDArray, NDArray]:
    """`LIT` of a noisy wall, seven pixels of which have a sample of another light, and where they are, (H, W)."""
    lit = noisy((96, 64), samples, 0.2)
    bright = np.zeros(lit.shape, bool)
    bright[[3, 9, 20, 31, 40, 52, 63], [90, 20, 55, 8, 70, 33, 95]] = True
    lit["rgb"][bright] += value / samples
    if samples > 1:
        lit["variance"][bright] = with_surface((value / samples) ** 2, THING)
    return lit, bright


def bounded_by_blocks(passes: PassSet, lit: NDArray) -> NDArray:
    """`LIT` without outliers."""
    size = tuple(-(-side // BLOCK) for side in lit.shape[::-1])
    blocks = drawn(passes, "block_moments", lit, size=size, side=BLOCK)  # type: ignore[arg-type]
    return drawn(passes, "outliers", lit, blocks, side=BLOCK)


def crowded() -> NDArray:
    """`LIT` of two walls, one before the other, fluted, of noisy light: of a floor, things beside it of its plane, a
    row of edges whose normals are short, pixels without any alike, and a corner and a hole where nothing is hit."""
    rng, columns = np.random.default_rng(5), np.arange(SIZE[0])
    lit = facing(SIZE, np.where(columns < 11, WALL, 0.4)[None], fluted(0.2 * columns, 30.0)[None])
    lit["rgb"] = rng.gamma(2.0, 0.5, (*SIZE[::-1], 3))
    surface = np.where(columns < 5, FLOOR, np.where(columns < 18, THING, OTHER)) * np.ones(SIZE[::-1], int)
    lit["normal"][9] *= 0.4
    surface[2:6, 16:19] += 1  # seen with others
    lit["nearness"][3, 7], lit["nearness"][12, 20], lit["normal"][12, 14] = 2.0, 1.1, (0.8, 0.0, -0.6)
    variance = rng.uniform(0, 0.5, SIZE[::-1]) * (rng.random(SIZE[::-1]) < 0.8)
    for where in np.s_[13:, :4], np.s_[6:8, 9:11]:
        lit["nearness"][where] = lit["normal"][where] = lit["rgb"][where] = variance[where] = 0
        surface[where] = FLOOR
    lit["variance"] = with_surface(variance, surface)
    return lit


def films() -> dict[str, NDArray]:
    """`LIT`, each with what a term is for."""
    one = crowded()
    one["variance"] = np.where(one["nearness"] > 0, with_surface(-1.0, surface_in(one["variance"])), one["variance"])
    floor = noisy(SIZE, 4, 0.2)
    below = np.indices(SIZE[::-1])[0] > 7
    floor["variance"] = with_surface(floor["variance"].astype(float), np.where(below, FLOOR, THING))
    floor["rgb"][below] += 3.0
    edge = noisy(SIZE, 4, 0.4)  # of which one of eight camera rays hits
    column = np.arange(SIZE[0])[None] + np.zeros(SIZE[::-1], int)
    edge["normal"][column == 12] *= 0.125
    for field in ("normal", "nearness", "rgb"):
        edge[field][column > 12] = 0
    edge["variance"] = np.where(column > 12, with_surface(0.0, THING), edge["variance"])
    still = crowded()
    still["variance"] = with_surface(0.0, surface_in(still["variance"]))
    return {
        "several samples": crowded(),
        "one sample": one,
        "a firefly": firefly(noisy(SIZE, 2, 0.1), 40.0),
        "a dark outlier": firefly(noisy(SIZE, 2, 0.1), 0.0),
        "a firefly that is confirmed": firefly(noisy(SIZE, 2, 0.1), 40.0, 1.0),
        "a floor beside a wall": floor,
        "an edge to nothing": edge,
        "no noise": still,
        "nothing hit": facing(SIZE, 0.0),
        "one pixel": wall((1, 1), 0.5),
        "a row": crowded()[4:5],
        "a column": crowded()[:, 8:9],
    }


FILMS = films()


def residual_of(lit: NDArray, seed: int = 3) -> NDArray:
    """`RESIDUAL` of fitted light near the film's."""
    made, rng = np.zeros(lit.shape, RESIDUAL.dtype), np.random.default_rng(seed)
    made["light"] = (0.9 + 0.2 * rng.random((*lit.shape, 1))) * (lit["nearness"] > 0)[..., None]
    made["rgb"], made["variance"] = lit["rgb"] - made["light"], lit["variance"]
    return made


# -- the twin: float32 beside float64, of weights that are eighth powers -----------------------------------------------


@pytest.mark.parametrize("samples", [1, 3, 8])
def test_light_is_parted_from_texture(reconstruction: Reconstruction, samples: int) -> None:
    """Of a floor, of things, of misses, partly covered pixels, black textures, a lamp, and blended surfaces: the film's
    own samples tell the light, more camera rays the surface, and what all blended ones reflect."""
    rng, shape = np.random.default_rng(5), SIZE[::-1]
    features, film = np.zeros(shape, FEATURES.dtype), np.zeros(shape, FILM.dtype)
    features["hits"] = rng.integers(0, samples + 1, shape)
    features["normal"] = rng.normal(size=(*shape, 3)) * features["hits"][..., None]
    features["depth"], features["count"] = 4.0 * features["hits"], samples
    features["albedo"] = rng.uniform(0, 1.5, (*shape, 3)) * (rng.random(shape) < 0.8)[..., None]
    features["emission"][2:8, 10:14] = 7 * samples
    features["instance"], features["surface"] = rng.integers(-1, 70000, shape), rng.integers(0, 1 << 15, shape)
    film["sum"], film["count"], film["square"] = rng.gamma(2.0, 0.5, (*shape, 3)), samples, rng.gamma(2.0, 0.5, shape)
    film["square"][:, ::3] = 0
    surfaces = features.copy()  # of four times as many camera rays
    for name in ("hits", "normal", "depth", "albedo", "emission", "count"):
        surfaces[name] *= 4
    surfaces["hits"] += rng.integers(0, 4, shape)
    surfaces["albedo"], surfaces["depth"] = rng.random((*shape, 3)), 3.0 * surfaces["hits"]
    surfaces["instance"], surfaces["emission"] = rng.integers(-1, 70000, shape), 5.0
    surfaces["surface"], surfaces["alike"] = rng.integers(0, 1 << 15, shape), rng.integers(0, surfaces["hits"] + 1)
    surfaces["alike"][:, 1::4] *= 0.3
    film["count"][::2] += samples  # of which the features do not tell
    device, lit_pass = reconstruction.device, PassSet(reconstruction.device, "film/denoise", PASSES)
    with device.current():
        streams = {"film": stream(device, FILM, film), "features": stream(device, FEATURES, features)}
        streams["surfaces"] = stream(device, FEATURES, surfaces)
        made = Stream(device, LIT, SIZE)
        lit_pass.draw("lit", streams, made, **view_uniforms(CAMERA, SIZE))
        found = made.read()
        release((*streams.values(), made))
    wanted = demodulated(film, features, surfaces, CAMERA)
    for name in ("normal", "nearness", "rgb"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(found["variance"], wanted["variance"], rtol=0.01)  # of which eight bits are kept
    np.testing.assert_array_equal(surface_in(found["variance"]), surface_in(wanted["variance"]))
    assert len(np.unique(surface_in(found["variance"]))) > 0.9 * features.size


@pytest.mark.parametrize("name", [*FILMS, "fireflies"])
def test_outliers_are_those_of_the_twin(passes: PassSet, name: str) -> None:
    lit = fireflies(4, 200.0)[0] if name == "fireflies" else FILMS[name]
    found, blocks = bounded_by_blocks(passes, lit), twin.block_moments(lit)
    drawn_blocks = drawn(passes, "block_moments", lit, size=blocks.shape[::-1], side=BLOCK)
    for field in ("count", "sum", "squares"):
        np.testing.assert_allclose(drawn_blocks[field], blocks[field], rtol=1e-5)
    expected = twin.without_outliers(lit, blocks)
    # The deviation is a small difference of large sums: to 1e-3 of the light.
    np.testing.assert_allclose(found["rgb"], expected["rgb"], rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(found["variance"], expected["variance"], rtol=0.015)  # of which eight bits are kept
    np.testing.assert_array_equal(surface_in(found["variance"]), surface_in(lit["variance"]))
    for field in ("normal", "nearness"):
        np.testing.assert_array_equal(found[field], lit[field])


@pytest.mark.parametrize("samples", [1, 2, 3, 32])
@pytest.mark.parametrize("name", FILMS)
def test_noise_is_that_of_the_twin(passes: PassSet, name: str, samples: int) -> None:
    lit = FILMS[name]
    found, wanted = drawn(passes, "noise", lit, samples=float(samples)), twin.steadied(lit, CAMERA, samples)
    np.testing.assert_allclose(found["variance"], wanted["variance"], rtol=0.01)
    np.testing.assert_array_equal(surface_in(found["variance"]), surface_in(wanted["variance"]))
    for field in ("normal", "nearness", "rgb"):
        np.testing.assert_array_equal(found[field], lit[field])


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("name", FILMS)
def test_what_a_regression_misses_is_that_of_the_twin(passes: PassSet, name: str, stride: int) -> None:
    lit, rng = FILMS[name], np.random.default_rng(8)
    shape = regression_twin.points_of(lit.shape[::-1], stride)[0].shape
    relief = np.zeros(shape, RELIEF.dtype)
    relief["rgb"], relief["gradient"] = rng.gamma(2.0, 0.5, (*shape, 3)), rng.normal(size=(*shape, 3))
    relief["base"], relief["variance"] = rng.uniform(0.5, 1.5, shape), rng.random(shape)
    features = features_of(lit, CAMERA, rng.random((*lit.shape, 3)))
    found = drawn(passes, "residual", lit, relief, features, scale=(1.0, 1.0), stride=stride)
    rgb, gradient, base, error = (relief[field].astype(float) for field in ("rgb", "gradient", "base", "variance"))
    wanted = twin.missed(lit, (rgb, gradient, base), error, stride, CAMERA, features)
    for field in ("rgb", "light", "error"):
        np.testing.assert_allclose(found[field], wanted[field], rtol=2e-4, atol=2e-5)
    np.testing.assert_array_equal(found["variance"], lit["variance"])


@pytest.mark.parametrize("reach", DETAIL_REACHES)
@pytest.mark.parametrize("last_level", [False, True])
@pytest.mark.parametrize("name", FILMS)
def test_shrinkage_is_that_of_the_twin(passes: PassSet, name: str, last_level: bool, reach: int) -> None:
    lit = FILMS[name]
    residual = residual_of(lit)
    found = drawn(passes, "shrink", lit, residual, reach=reach, last_level=float(last_level))
    wanted = twin.shrunk(lit, residual, CAMERA, reach, last_level)
    for field in ("rgb", "light", "variance", "error"):
        np.testing.assert_allclose(found[field], wanted[field], rtol=5e-4, atol=5e-5)


@pytest.mark.parametrize("name", FILMS)
def test_bounds_are_those_of_the_twin(passes: PassSet, name: str) -> None:
    lit = FILMS[name]
    residual = residual_of(lit)
    rng = np.random.default_rng(9)
    residual["light"], residual["error"] = lit["rgb"], 0.1 * rng.random(lit.shape)
    features = features_of(lit, CAMERA, rng.random((*lit.shape, 3)))
    found = drawn(passes, "bounded", lit, residual, features)
    np.testing.assert_allclose(found["rgb"], twin.bounded(lit, residual, CAMERA, features), rtol=1e-4, atol=1e-5)
    hit = lit["nearness"] > 0
    np.testing.assert_array_equal(found["variance"][hit], lit["variance"][hit])


@pytest.mark.parametrize("name", FILMS)
def test_all_passes_are_their_twin(reconstruction: Reconstruction, name: str) -> None:
    lit, samples = FILMS[name], 1 if name == "one sample" else 4
    found = light_of(reconstruction, lit, samples)
    np.testing.assert_allclose(
        found, twin.reconstructed(lit, CAMERA, samples, features_of(lit, CAMERA)), rtol=5e-3, atol=2e-3
    )
    assert np.isfinite(found).all() and found.min() >= 0


# -- facts: what the light of known films has to be -------------------------------------------------------------------


@pytest.mark.parametrize("samples", [1, 2, 64])
@pytest.mark.parametrize("value", [1e-6, 0.3, 1e4])
def test_even_light_stays_whatever_it_is_seen_on(reconstruction: Reconstruction, value: float, samples: int) -> None:
    """A furnace: of all surfaces, their edges and their noise, to float32's rounding of some fifty sums."""
    lit = FILMS["several samples"].copy()
    hit = lit["nearness"] > 0
    lit["rgb"] = value * hit[..., None]
    if samples == 1:
        lit["variance"] = np.where(hit, with_surface(-1.0, surface_in(lit["variance"])), lit["variance"])
    found = light_of(reconstruction, lit, samples)
    np.testing.assert_allclose(found[hit], value, rtol=1e-5)


@pytest.mark.parametrize("samples", [1, 2, 8, 64])
def test_a_plane_of_noise_keeps_its_mean_and_loses_its_noise(reconstruction: Reconstruction, samples: int) -> None:
    """The mean within three standard errors of the film's; noise to less than a fifth. One of 4096 pixels is off by
    1.1 of it, in a corner of the picture."""
    lit = noisy((64, 64), samples, 0.4)
    found, noise = light_of(reconstruction, lit, samples)[..., 0], 0.4 / np.sqrt(samples)
    assert abs(found.mean() - lit["rgb"].mean()) < 3 * noise / 64
    assert found.std() < 0.2 * noise and abs(found - 1).max() < 1.2 * noise


@pytest.mark.parametrize("samples", [2, 512])
def test_noise_that_few_samples_hide_is_told_by_the_pixels_around(passes: PassSet, samples: int) -> None:
    """Pixels whose samples agree have an n-th of the noise of the 24 around, but all of it where they are dark."""
    lit = noisy((160, 120), 2, 0.4)
    rows, columns = np.arange(12, 108, 12)[:, None], np.arange(12, 148, 12)
    lit["variance"][rows, columns], lit["rgb"][rows[::2], columns] = with_surface(0.0, THING), 0.0
    told = drawn(passes, "noise", lit, samples=float(samples))["variance"][rows, columns] / (0.4**2 / 2)
    # Of 44 means of 24 variances of one degree of freedom each the standard error is 4.4 %; a few samples tell less.
    for found, expected in ((told[::2], 1.0), (told[1::2], 1.0 / samples)):
        np.testing.assert_allclose(found.mean(), expected * (1 + 1 / samples**2), rtol=3 * 0.044)


@pytest.mark.parametrize("samples", [2, 4096])
def test_where_there_is_no_noise_nothing_changes(reconstruction: Reconstruction, samples: int) -> None:
    """Stripes of light, which no regression tells, keep all that the pixels around confirm."""
    lit, columns = wall(), np.arange(SIZE[0])
    lit["rgb"] = np.where(columns // 3 % 2, 0.2, 1.0)[None, :, None]
    found = light_of(reconstruction, lit, samples)
    np.testing.assert_allclose(found, lit["rgb"], rtol=1e-5)


@pytest.mark.parametrize("samples", [1, 2, 8])
def test_single_bright_samples_leave_no_discs(passes: PassSet, reconstruction: Reconstruction, samples: int) -> None:
    """Seven pixels of 6,144 have a sample of 200 times the light: what is around them is as without."""
    lit, bright = fireflies(samples, 200.0)
    found = light_of(reconstruction, bounded_by_blocks(passes, lit), samples)[..., 0]
    without = light_of(reconstruction, noisy(lit.shape[::-1], samples, 0.2), samples)[..., 0]
    # Bounded to 6 deviations of 0.2 / sqrt(samples) they still count a little: 0.07 measured, unbounded 0.27 to 2.4.
    assert abs(found - without)[~bright].max() < 0.12


@pytest.mark.parametrize("samples", [1, 4])
def test_light_that_several_pixels_have_is_kept(passes: PassSet, samples: int) -> None:
    """What one pixel in 20 meets is the light of a dark wall, and a bright patch is one; so is a pixel whose samples
    agree."""
    rng, lit = np.random.default_rng(7), noisy((96, 64), samples, 0.0)
    lit["rgb"] = 20.0 * (rng.random(lit.shape) < 1 / 20)[..., None]
    if samples > 1:
        lit["variance"] = with_surface((lit["rgb"] @ LUMINANCE) ** 2 / samples, THING)
    np.testing.assert_array_equal(bounded_by_blocks(passes, lit), lit)
    lit = noisy((96, 64), samples, 0.2)
    lit["rgb"][30:32, 40:43] = 200.0
    np.testing.assert_array_equal(bounded_by_blocks(passes, lit)["rgb"][30:32, 40:43], 200.0)
    if samples > 1:
        lit["rgb"][10, 10], lit["variance"][10, 10] = 200.0, with_surface(1e-6, THING)
        np.testing.assert_allclose(bounded_by_blocks(passes, lit)["rgb"][10, 10], 200.0, rtol=1e-6)


@pytest.mark.parametrize(("value", "most"), [(40.0, 1.5), (0.0, 0.2)])
def test_a_lone_pixel_is_bounded_until_samples_confirm_it(
    reconstruction: Reconstruction, value: float, most: float
) -> None:
    """Bright or dark: of two samples it is of the light around, of many that agree it is its own."""
    left = []
    for variance in (value**2 + 1.0, 1e-6):
        lit = firefly(wall(variance=1e-6), value, variance)
        left.append(abs(light_of(reconstruction, lit, 2 if variance > 1e-6 else 4096)[8, 6] - 1).max())
    assert left[0] < most, left
    assert left[1] > 0.9 * abs(value - 1), left


def test_a_lone_pixel_of_one_sample_is_of_the_light_around(reconstruction: Reconstruction) -> None:
    """Of no surface around, its only sample black."""
    lit = wall()
    lit["variance"] = with_surface(-1.0, THING)
    lit["nearness"][8, 6], lit["rgb"][8, 6] = 2.0, 0.0
    np.testing.assert_allclose(light_of(reconstruction, lit, 1)[8, 6], 1.0, rtol=1e-5)


@pytest.mark.parametrize("samples", [1, 2, 64])
def test_floor_and_things_of_one_plane_do_not_mix(reconstruction: Reconstruction, samples: int) -> None:
    """A white floor and the dark thing on it, pixel beside pixel: told by their ids alone."""
    lit = noisy((32, 24), 4, 0.02)
    below = np.indices(lit.shape)[0] > 11
    lit["rgb"] *= np.where(below, 100.0, 0.1)[..., None]
    scale, surface = np.where(below, 100.0, 0.1) ** 2, np.where(below, FLOOR, THING)
    variance = lit["variance"].astype(float) * scale if samples > 1 else np.full(lit.shape, -1.0)
    lit["variance"] = with_surface(variance, surface)
    found = light_of(reconstruction, lit, samples)
    np.testing.assert_allclose(found[below], 100.0, rtol=0.05)
    # Points of another surface weigh a thousandth in the fitted light of a pixel between them: none is between here.
    np.testing.assert_allclose(found[~below], 0.1, rtol=0.05)


def test_an_edge_to_nothing_has_the_light_of_its_surface(reconstruction: Reconstruction) -> None:
    """Its normal is short, by which what nothing was hit at is alike: that has neither light nor a variance."""
    found = light_of(reconstruction, FILMS["an edge to nothing"], 4)[:, 12]
    np.testing.assert_allclose(found, 1.0, rtol=0.6)
    assert abs(found.mean() - 1) < 3 * 0.2 / 4, "three standard errors of 16 pixels of four samples"


def test_light_is_never_negative(passes: PassSet) -> None:
    """What the regression misses may be more than all: of a pixel, and of one that hits nothing beside it."""
    lit = wall(variance=1e-6)
    for field in ("nearness", "normal", "rgb"):
        lit[field][5, 5] = 0
    residual = residual_of(lit)
    residual["light"] = -0.5
    assert not drawn(passes, "bounded", lit, residual, features_of(lit, CAMERA))["rgb"].any()


def test_what_nothing_was_hit_at_takes_the_light_around(reconstruction: Reconstruction) -> None:
    """Other samples of such a pixel may hit a surface; without any around it is black."""
    lit = wall()
    lit["rgb"] = 2.0
    hole = np.zeros(lit.shape, bool)
    hole[5, 5], hole[10:, 12:] = True, True
    for field in ("nearness", "normal", "rgb"):
        lit[field][hole] = 0
    found = light_of(reconstruction, lit, 4)
    np.testing.assert_allclose(found[5, 5], 2.0, rtol=1e-5)
    np.testing.assert_allclose(found[10, 15], 2.0, rtol=1e-5)
    assert not found[12:, 14:].any()


@pytest.mark.parametrize("bright", [1e15, 1e25])
@pytest.mark.parametrize("samples", [1, 2, 64])
def test_a_dazzling_pixel_leaves_numbers(reconstruction: Reconstruction, samples: int, bright: float) -> None:
    """Of light whose square is none that a float32 holds, too."""
    lit = noisy(SIZE, max(samples, 2), 0.1)
    if samples == 1:
        lit["variance"] = -1.0
    lit = firefly(lit, bright, min(bright**2, 1e38))
    found = light_of(reconstruction, lit, samples)
    assert np.isfinite(found).all() and found.min() >= 0


@pytest.mark.parametrize("size", [(1, 1), (5, 3)])
@pytest.mark.parametrize("nearness", [0.0, WALL])
@pytest.mark.parametrize("samples", [1, 2])
def test_without_light_and_surfaces_pictures_are_black(
    reconstruction: Reconstruction, size: tuple[int, int], nearness: float, samples: int
) -> None:
    lit = facing(size, nearness)
    if samples == 1:
        lit["variance"] = -1.0
    assert not light_of(reconstruction, lit, samples).any()


def test_noise_at_an_edge_stays_on_its_side(reconstruction: Reconstruction) -> None:
    """Two walls, one before the other, told by their depths alone, and their light."""
    lit = noisy((32, 24), 4, 0.2)
    near = np.arange(32) < 13
    lit["nearness"] = np.where(near, WALL, 0.4)[None]
    lit["rgb"] *= np.where(near, 0.1, 5.0)[None, :, None]
    lit["variance"] = with_surface(lit["variance"] * np.where(near, 0.1, 5.0)[None] ** 2, THING)
    found = light_of(reconstruction, lit, 4)
    np.testing.assert_allclose(found[:, near], 0.1, rtol=0.2)
    np.testing.assert_allclose(found[:, ~near], 5.0, rtol=0.2)


def test_relief_stays_where_normals_tell_it(reconstruction: Reconstruction) -> None:
    """Flutes lit from the side under noise that is larger than their light's changes."""
    lit = noisy((48, 32), 2, 0.3)
    lit["normal"] = fluted(np.arange(48), 40.0)[None]
    truth = 1 + 0.5 * lit["normal"].astype(float) @ np.array((1.0, 0.0, 0.0))
    lit["rgb"] += (truth - 1)[..., None]
    found = light_of(reconstruction, lit, 2) @ LUMINANCE
    # 0.39 measured: a part of the noise, and of the relief that a ridge as large as the noise holds back.
    assert np.std(found - truth) < 0.45 * np.std(lit["rgb"] @ LUMINANCE - truth)
    assert np.corrcoef(found.ravel(), truth.ravel())[0, 1] > 0.92, "0.93 measured"
