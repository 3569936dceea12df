"""The regression of light over normals beside its NumPy twin, and what it is for: noise goes, relief stays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import regression_twin as twin
from alike_twin import surface_in, surface_of, with_surface
from numpy.typing import NDArray
from reconstruction_twin import steadied
from surfaces import facing, features_of, fluted, release, stream

from raystream.denoise import reconstruction as module
from raystream.denoise.reconstruction import FIT_REACHES, Reconstruction
from raystream.denoise.records import LIT
from raystream.denoise.upsampling import Upsampling
from raystream.kernels.records import FEATURES
from raystream.scene.camera import Camera
from raystream.scene.light import LUMINANCE
from raystream.stream.gl.device import Device

CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
SIZE = 44, 30
WALL = 0.25  # nearness of a wall at z = 0
THING, MANY = int(surface_of(1)), int(surface_of(1, 1))


@pytest.fixture(scope="module")
def passes(device: Device) -> Iterator[tuple[Reconstruction, Upsampling]]:
    with device.current():
        made = Reconstruction(device), Upsampling(device)
        yield made
        for each in made:
            each.release()


def run(
    passes: tuple[Reconstruction, Upsampling], lit: NDArray, light: NDArray | None = None, finer: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """The reliefs of a lattice, and the light that they tell of the surfaces ``finer`` (`LIT`), or of ``lit``'s own."""
    (regression, upsampling), device = passes, passes[0].device
    wide = lit if finer is None else finer
    features = features_of(wide, CAMERA, albedo=1.0)
    with device.current():
        streams = stream(device, LIT, lit), stream(device, LIT, lit if light is None else light)
        steps = regression.fit(*streams, CAMERA)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                fitted = end.value
                break
        relief = fitted.relief.read()
        streams = (*streams, stream(device, FEATURES, features))
        drawn = upsampling.compose(fitted, streams[-1], CAMERA).read()
        release(streams)
    return relief, drawn["rgb"].astype(float)


def surfaces(kind: str, size: tuple[int, int] = SIZE) -> NDArray:
    """`LIT`, dark. They fill a picture of any size alike."""
    x, y = ((np.arange(n) + 0.5) / n for n in size)
    if kind == "two walls":
        return facing(size, np.where(x < 0.4, WALL, 0.4)[None])
    if kind == "flutes":
        return facing(size, WALL, np.broadcast_to(fluted(SIZE[0] * x, 40.0), (*size[::-1], 3)))
    if kind in ("a floor and a thing", "edges"):
        made = facing(size, WALL)
        surface = np.where(x < 0.6, 0, np.where((x < 0.7) & (kind == "edges"), MANY, THING))
        made["variance"] = with_surface(0.0, surface[None] + np.zeros(made.shape, int))
        return made
    assert kind == "background"
    return facing(size, np.where((x[None] < 0.3) & (y[:, None] > 0.4), 0.0, WALL))


def noisy(lit: NDArray, rng: np.random.Generator) -> NDArray:
    """Records of light as of two samples; of every second pixel the variance is that of others around."""
    made, hit = lit.copy(), lit["nearness"] > 0
    made["rgb"] = rng.gamma(2.0, 0.5, (*lit.shape, 3)) * hit[..., None]
    made["variance"] = np.where(hit, rng.uniform(0.1, 0.5, lit.shape), 0.0)
    made["variance"][np.indices(lit.shape).sum(0) % 2 > 0] *= -1
    return made


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kind", ["two walls", "a floor and a thing", "edges", "flutes", "background"])
def test_the_passes_are_their_twin(
    passes: tuple[Reconstruction, Upsampling], monkeypatch: pytest.MonkeyPatch, kind: str, stride: int
) -> None:
    """Covariances are differences of squares of unit normals in float32, 1e-7 off, to which a ridge of at least 1e-3 is
    added: gradients are good for some 1e-4."""
    if stride == 2:
        monkeypatch.setattr(module, "MOST_WHOLE", 0)
    lit, finer = surfaces(kind), surfaces(kind, (2 * SIZE[0], 2 * SIZE[1]))
    light = noisy(lit, np.random.default_rng(3))
    found, drawn = run(passes, lit, light, finer)
    (rgb, gradient, base), noise = twin.fitted(lit, light, CAMERA, stride)
    assert found.shape == base.shape == (-(-SIZE[1] // stride), -(-SIZE[0] // stride))
    np.testing.assert_allclose(found["rgb"], rgb, rtol=2e-4, atol=1e-6)
    np.testing.assert_allclose(found["variance"], noise, rtol=0.01, atol=1e-9)  # of which eight bits are kept
    np.testing.assert_allclose(found["gradient"], gradient, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found["base"], base, rtol=1e-3, atol=1e-3)
    guide = finer["normal"].astype(float), finer["nearness"].astype(float)
    surface = surface_in(finer["variance"])
    wanted = twin.relit(lit, (rgb, gradient, base), stride, guide, CAMERA, surface) * (guide[1] > 0)[..., None]
    np.testing.assert_allclose(drawn, wanted, rtol=1e-3, atol=1e-4)


def lit_by(lit: NDArray, gradient: tuple[float, float, float], base: float = 1.0) -> NDArray:
    """(H, W) luminance that is linear in the normal."""
    return (base + lit["normal"].astype(float) @ np.array(gradient)) * (lit["nearness"] > 0)


def test_light_that_is_linear_in_the_normal_is_found_and_its_relief_is_that_of_finer_normals(
    passes: tuple[Reconstruction, Upsampling],
) -> None:
    """Without noise. The larger picture's flutes are four times as narrow, of other normals than the light's pixels.

    The ridge of 1e-3 takes a little of the slope: 0.5 % of it where all normals count, which vary by 0.2; 11 % at the
    flutes' edges, to which their opposite edges, turned by 80 degrees, hardly count. Light is off by 6 % at most, and
    by 0.6 % in the mean.
    """
    lit, gradient, color = surfaces("flutes"), (0.5, 0.0, 0.0), np.array((0.6, 1.0, 1.5))
    lit["rgb"] = lit_by(lit, gradient)[..., None] * color
    finer = facing((4 * SIZE[0], 4 * SIZE[1]), WALL, fluted(np.arange(4 * SIZE[0]), 40.0)[None])
    relief, drawn = run(passes, lit, finer=finer)
    wanted = lit_by(finer, gradient)[..., None] * color
    off = np.abs(drawn / wanted - 1)
    assert off.max() < 0.07 and off.mean() < 0.01
    assert drawn.std() == pytest.approx(wanted.std(), rel=0.02)
    slope = relief["gradient"] * (relief["rgb"] @ LUMINANCE / (color @ LUMINANCE))[..., None]
    assert slope[..., 0].min() > 0.44 and slope[..., 0].max() < 0.5
    np.testing.assert_allclose(relief["rgb"], relief["rgb"][..., 1:2] * color, rtol=1e-5)


def test_noise_falls_as_the_window_says(passes: tuple[Reconstruction, Upsampling]) -> None:
    """Of a wall, in the middle of a picture that is wider than the window."""
    size, rng, left = (96, 96), np.random.default_rng(11), []
    lit = facing(size, WALL)
    lit["variance"] = 0.25
    for _ in range(6):
        light = lit.copy()
        light["rgb"] = (1 + 0.5 * rng.normal(size=lit.shape))[..., None]
        relief, _ = run(passes, lit, light)
        left.append((relief["rgb"][32:-32, 32:-32, 0] - 1) ** 2)
    window = np.ones(1)
    for reach in (1, *FIT_REACHES):
        step = np.zeros(2 * reach + 1)
        step[[0, reach, -1]] = 0.25, 0.5, 0.25
        window = np.convolve(window, step)
    expected = 0.5 * (window**2).sum()
    # Weights that follow the light (of 4 deviations, as told for independent taps) leave half as much again: 1.53.
    assert 0.9 < np.sqrt(np.mean(left)) / expected < 1.8
    assert expected < 0.5 / 40


@pytest.mark.parametrize("variance", ["known", "unknown"])
def test_a_firefly_is_no_dot(passes: tuple[Reconstruction, Upsampling], variance: str) -> None:
    """A pixel that is a hundred times as bright as all others: its light stands in a wide, faint spot."""
    lit = facing((64, 64), WALL)
    light = lit.copy()
    light["rgb"], light["variance"] = 1.0, 0.01 if variance == "known" else -1.0
    light["rgb"][32, 30] = 100.0
    if variance == "known":
        light["variance"][32, 30] = 99.0**2
    else:
        light = steadied(light, CAMERA, 1)
    _, drawn = run(passes, lit, light)
    assert drawn.max() < 1.4, "1.30 measured; the mean of 3 x 3 pixels is 26"
    assert np.abs(np.diff(drawn, axis=0)).max() < 0.1, "nor has what is left of it edges"
    assert drawn.mean() == pytest.approx(light["rgb"].mean(), rel=0.01)  # its light is not lost


@pytest.mark.parametrize("size", [(1, 1), (5, 1), (9, 7)])
@pytest.mark.parametrize("case", ["no light", "no normals", "nothing", "brightest", "one sample"])
def test_every_number_is_finite(passes: tuple[Reconstruction, Upsampling], case: str, size: tuple[int, int]) -> None:
    lit = facing(size, 0.0 if case == "nothing" else WALL)
    lit["variance"] = -1.0
    lit["rgb"] = {"no light": 0.0, "nothing": 0.0, "brightest": 1e15}.get(case, 1.0)
    if case == "no normals":
        lit["normal"] = 0.0
    if case == "one sample":
        lit["rgb"] = 0.0
        lit["rgb"][0, 0] = 7.0
    relief, drawn = run(passes, lit, finer=np.repeat(np.repeat(lit, 2, 0), 2, 1))
    for name in relief.dtype.names or ():
        assert np.isfinite(relief[name]).all(), name
    assert np.isfinite(drawn).all() and drawn.min() >= 0
