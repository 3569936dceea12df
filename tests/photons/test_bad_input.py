"""Photon mapping of what makes no sense: a clear line, or the picture that is defined, with a remark if it is empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.renderer import photon_map
from raystream.scene.light import Light
from raystream.scene.material import Material

TRIANGLE = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]])
CORNER = [[0, 1, 2], [0, 1, 3]]  # two walls, so that photons come to a second surface
OPTIONS: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 64, "environment": "none"}
OPTIONS |= {"photon_bounces": 3}


def scene_of(*lights: Light, vertices: Any = TRIANGLE, material: Material | None = None) -> raystream.Scene:
    positions = np.vstack([vertices, vertices[:2].mean(axis=0) + (0, 0, np.ptp(vertices))])
    scene = raystream.Scene.from_triangles(positions.tolist(), CORNER)
    scene.lights = list(lights)
    if material is not None:
        scene.materials = [material]
    return scene


def point(at: tuple[float, float, float] = (0.1, 0.3, 1.0), intensity: float = 1.0) -> Light:
    return Light("point", "lamp", at, intensity=(intensity,) * 3)


@pytest.fixture(scope="module")
def lit() -> Renderer:
    return Renderer(scene_of(point()), **OPTIONS)


def test_no_light_is_black_with_a_remark() -> None:
    picture = Renderer(scene_of(), **OPTIONS).render((4, 4), spp=2)
    assert not picture.linear.any()
    assert "no light sends photons: --environment sky adds light" in picture.remarks()


def test_lights_without_power_and_lights_that_see_nothing(lit: Renderer) -> None:
    """Without power they are left out; behind a triangle's plane they see it edge on; far away no photon comes."""
    renderer = Renderer(scene_of(point(intensity=0.0)), **OPTIONS)
    assert any("without intensity" in note for note in renderer.notes)
    picture = renderer.render((4, 4), spp=1)
    assert not picture.linear.any() and any("no light sends photons" in line for line in picture.remarks())
    lit.update(scene=scene_of(point((0.0, 0.0, 1e6))))
    picture = lit.render((4, 4), spp=1)
    assert np.isfinite(picture.linear).all()
    assert any("no photon is in the map" in line for line in picture.remarks())
    lit.update(scene=scene_of(point()))
    assert lit.render((4, 4), spp=1).remarks() == []


def test_no_diffuse_surface_is_black_with_a_remark() -> None:
    scene = scene_of(point(), material=Material("mirror", kind="mirror"))
    picture = Renderer(scene, **OPTIONS).render((4, 4), spp=1)
    assert not picture.linear.any() and any("no photon is in the map" in line for line in picture.remarks())


@pytest.mark.parametrize("estimate", ["progressive", "nearest", "published"])
def test_extreme_radii_and_more_than_there_are(lit: Renderer, estimate: str) -> None:
    """A radius that holds nothing leaves direct light alone, one that holds all is dark at its edge, and k beyond what
    there is takes the whole disc."""
    lit.update(estimate=estimate)
    direct = None
    for radius in (1e-30, 1e-18, 1e-6, 1e18):
        lit.update(photon_radius=radius)
        linear = lit.render((4, 4), spp=1).linear
        direct = linear if direct is None else direct
        assert np.allclose(linear, direct, rtol=1e-5) and linear.any()
    lit.update(photon_radius=0.5, nearest=1 << 16)
    assert np.isfinite(lit.render((4, 4), spp=1).linear).all()
    lit.update(photon_radius=0.0, nearest=50)


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e-6, 1e6, 1e15])
def test_scenes_of_every_extent(scale: float) -> None:
    lamp = point(tuple(scale * np.array((0.1, 0.3, 1.0))), min(max(scale * scale, 1e-30), 1e30))
    linear = Renderer(scene_of(lamp, vertices=scale * TRIANGLE), **OPTIONS).render((4, 4), spp=1).linear
    assert np.isfinite(linear).all() and (linear >= 0).all()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 1e38])
def test_powers_that_are_none(value: float) -> None:
    with pytest.raises(ViewerError, match=r"light 'lamp': intensity .* is (not three finite|negative)"):
        Renderer(scene_of(point(intensity=value)), **OPTIONS)


def test_more_photons_than_a_texture_or_the_memory_holds(lit: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are found out before any is taken; the renderer goes on with fewer."""
    lit.update(photons=1 << 21, photon_bounces=64)
    with pytest.raises(ViewerError, match=r"2,097,152 photons that come to 64 surfaces are too many \(take fewer"):
        lit.render((4, 4), spp=1)
    monkeypatch.setattr(photon_map, "available", lambda: 100 << 20)
    lit.update(photons=1 << 20, photon_bounces=3)
    held = lit.gpu_scene.resources.stream_bytes()
    with pytest.raises(ViewerError, match=r"photon map: takes about .* of memory, and 100 MiB are free"):
        lit.render((4, 4), spp=1)
    assert lit.gpu_scene.resources.stream_bytes() == held
    lit.update(photons=64)
    assert lit.render((4, 4), spp=1).linear.any()
