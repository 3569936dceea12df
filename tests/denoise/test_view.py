"""The view of a picture's pixels against the rays of its camera, in float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from glsl_call import Function

from raystream.denoise.records import PassView, Views, view_uniforms
from raystream.scene.camera import Camera
from raystream.scene.projections import Equirectangular, Fisheye, Intrinsics, Orthographic
from raystream.stream.declare.kernel import Module
from raystream.stream.gl.device import Device

CAMERA = Camera((1, 2, 3), (0.5, -1, -4), (0.1, 1, 0), fov=50)


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (4, 9), (640, 480)])
def test_pixels_are_seen_along_the_camera_s_rays(size: tuple[int, int]) -> None:
    """Through their centres; as long as the depth along the view's axis is 1."""
    corner, across, down = (np.array(value) for value in view_uniforms(CAMERA, size).values())
    row, column = np.indices(size[::-1])
    view = corner + column[..., None] * across + row[..., None] * down
    np.testing.assert_allclose(view @ CAMERA.basis()[2], 1, rtol=1e-14)
    _, rays = CAMERA.rays(*size)
    np.testing.assert_allclose(view / np.linalg.norm(view, axis=-1, keepdims=True), rays, atol=1e-14)


def test_a_lattice_has_every_nth_pixel() -> None:
    view = view_uniforms(CAMERA, (640, 480))
    lattice = {name: np.array(value) for name, value in PassView(view).lattice(3).uniforms.items()}
    corner, across, down = (np.array(value) for value in view.values())
    found = lattice["view_corner"] + 5 * lattice["view_dx"] + 2 * lattice["view_dy"]
    np.testing.assert_allclose(found, corner + 15 * across + 6 * down, rtol=1e-14)


def mapped(device: Device, view: PassView, signature: str, text: str) -> Function:
    """A function behind the view of a projection."""
    module = Module("mapped view", ("view_through",), "film/denoise/view.glsl", features=frozenset(view.features))
    made = Function(device, signature, ["film/denoise/alike.glsl"], [module], text=text)
    with device.current():
        made.set(view.uniforms)
        made.shader.bind("in_view_0", view.streams["view"].textures[0])
    return made


WAY = "vec3 way(ivec2 at)"
WAY_TEXT = "vec3 way(ivec2 at) { return view_through(at); }"
PROJECTIONS: dict[str, dict[str, Any]] = {
    "equirectangular": {"projection": Equirectangular()},
    "fisheye": {"projection": Fisheye(220.0)},
    "measured": {"projection": Intrinsics(70.0, 71.0, 30.0, 25.0, (64, 50), (-0.1, 0.0, 0.01, 0.0))},
    "pair": {"eyes": 0.2},
    "pair all around": {"eyes": 0.2, "projection": Equirectangular()},
}


@pytest.mark.parametrize("name", PROJECTIONS)
def test_pixels_of_projections_are_seen_along_their_rays(device: Device, name: str) -> None:
    """Of both eyes, from seam to edge; of a lattice, too."""
    size, camera = (400, 250), replace(CAMERA, **PROJECTIONS[name])
    with device.current():
        views = Views(device)
        view = views.of(camera, size)
    for stride in (1, 2):
        shown = view if stride == 1 else view.lattice(stride)
        way = mapped(device, shown, WAY, WAY_TEXT)
        at = np.stack(np.meshgrid(np.arange(0, size[0], stride), np.arange(0, size[1], stride)), -1)
        rays = camera.rays(*size)[1][::stride, ::stride]
        (found,) = way(at.reshape(-1, 2) // stride)
        there = np.isfinite(rays).all(-1).ravel()
        if "fisheye" in name:  # beside its circle nodes have no way
            there &= np.hypot(*(at.reshape(-1, 2) - (199.5, 124.5)).T) < 120
        assert there.mean() > 0.3
        np.testing.assert_allclose(found[there], rays.reshape(-1, 3)[there], atol=2e-3)
    with device.current():
        views.release()


@pytest.mark.parametrize("eyes", [0.0, 0.2])
@pytest.mark.parametrize("stride", [1, 2])
def test_no_light_goes_from_eye_to_eye(device: Device, eyes: float, stride: int) -> None:
    """Two pixels of one plane are alike, but for those of a pair's other half."""
    camera = replace(CAMERA, projection=Orthographic(2.0), eyes=eyes)
    with device.current():
        views = Views(device)
        view = views.of(camera, (40, 30))
    text = """float apart(ivec2 at, ivec2 by) {
        Guide guide = Guide(view_axes[2], 0.5);
        return unlike(plane_of(guide, at, 1.0, STRICT), guide, vec2(by));
    }"""
    apart = mapped(device, view if stride == 1 else view.lattice(2), "float apart(ivec2 at, ivec2 by)", text)
    at, by = (each.ravel() for each in np.meshgrid(np.arange(40 // stride), np.arange(-5, 6)))
    (found,) = apart(np.stack([at, 0 * at], -1), np.stack([by, 0 * by], -1))
    half = 20 // stride
    other = (at < half) != (at + by < half)
    np.testing.assert_array_equal(found > 11.5, other & (eyes > 0))
    with device.current():
        views.release()
