"""Photon mapping as a whole: power, the search against NumPy, references, settings, and when the map is made anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction.photon_cases import STAGES, stage_seconds

import raystream
from raystream import Renderer
from raystream.kernels.photons import PHOTON, STORED
from raystream.lighting.emitters import emitters
from raystream.renderer.photon_map import MAX_RADIUS_SHARE, radius_share

SINGLE: dict[str, Any] = {"machine": "singlepass", "program": "photon"}
FEW: dict[str, Any] = {"photons": 2000, "photon_bounces": 4, "estimate": "nearest"}
POINT: dict[str, Any] = {"pixel_filter": "point", "sampler": "independent"}


@pytest.fixture(scope="module")
def cornell() -> raystream.Scene:
    return raystream.load("cornell")


def photons_of(renderer: Renderer) -> np.ndarray:
    """(bounces, photons) of `PHOTON`."""
    with renderer.device.current():
        stream = renderer.photon_map.streams["photons"]
        return stream.read().reshape(renderer.settings.photon_bounces, -1)


def test_lights_send_the_power_that_they_have(cornell: raystream.Scene) -> None:
    """The lamp's area times pi times its radiance, evenly; every bounce carries less."""
    renderer = Renderer(cornell, **SINGLE, **FEW)
    renderer.render((8, 8), spp=1)
    photons = photons_of(renderer)
    lamp = emitters(cornell)
    area = np.linalg.norm(np.cross(*(lamp.corners[:, k] - lamp.corners[:, 0] for k in (1, 2))), axis=1) / 2
    wanted = np.pi * (area[:, None].astype(float) * lamp.emission).sum(axis=0)
    met = photons["power"][0].any(axis=1)  # some leave the box at its open front
    assert 0.7 < met[: renderer.settings.photons].mean() < 1
    assert np.allclose(photons["power"][0][met], wanted / renderer.settings.photons, rtol=1e-5)
    power = photons["power"].astype(float).sum(axis=1)
    assert (power[1:] < power[:-1]).all()
    assert not photons["stored"][0].any() and photons["stored"][1:].any(axis=1).all()  # direct light is left out
    assert (photons["bounce"][1:][photons["stored"][1:] > 0] >= 1).all()


# -- photons ---------------------------------------------------------------------------------------------------------


def test_caustic_photons_come_from_specular_surfaces_alone() -> None:
    """Under a glass ball: all surfaces before were the ball's, above the floor; others have been on the floor."""
    renderer = Renderer(raystream.load("glass_ball"), **SINGLE, **{**FEW, "photons": 8000, "caustic_photons": 0})
    renderer.render((8, 8), spp=1)
    photons = photons_of(renderer)
    floor = (photons["position"][..., 1] < 1e-3) & photons["power"].any(axis=-1)
    before = np.logical_or.accumulate(floor, axis=0)
    kind = photons["stored"][1:][floor[1:]]
    assert np.array_equal(kind, np.where(before[:-1][floor[1:]], STORED["indirect"], STORED["caustic"]))
    assert all((kind == one).any() for one in STORED.values())


def test_photons_that_come_to_one_surface_leave_direct_light_alone(cornell: raystream.Scene) -> None:
    """They are direct light, which shadow rays bring: the picture is Whitted's, to the bit."""
    direct = Renderer(cornell, **{**SINGLE, "program": "whitted"}).render((8, 8), spp=1).linear
    for bounces, same in ((1, True), (2, False)):
        picture = Renderer(cornell, **SINGLE, **{**FEW, "photon_bounces": bounces}).render((8, 8), spp=1).linear
        assert (picture.tobytes() == direct.tobytes()) is same and (picture >= direct).all()


@pytest.mark.parametrize(
    ("estimate", "caustic_photons", "share"), [("nearest", 0, 1.0), ("nearest", 500, 0.5), ("published", 500, 1.0)]
)
def test_caustics_are_looked_for_close_by_where_their_photons_are_apart(
    estimate: str, caustic_photons: int, share: float
) -> None:
    """In cells of their own they lie close together; among the others half of the radius would be noise."""
    options = {**FEW, "estimate": estimate, "caustic_photons": caustic_photons}
    renderer = Renderer(raystream.load("glass_ball"), **SINGLE, **options)
    renderer.render((8, 8), spp=1)
    found = renderer.photon_map.uniforms(renderer.settings, renderer.camera, 8)
    assert found["estimate_caustic"] == share and found["photon_grid_kinds"] == (2 if share == 0.5 else 1)


# -- the search ------------------------------------------------------------------------------------------------------


def estimate_of(positions: np.ndarray, normals: np.ndarray, photons: np.ndarray, k: int, radius: float) -> np.ndarray:
    """(N, 3) sum of powers over the disc of the k nearest, in float64, over all photons."""
    stored = photons[photons["stored"] > 0]
    out = np.zeros((len(positions), 3))
    for number, (position, normal) in enumerate(zip(positions, normals, strict=True)):
        square = ((stored["position"].astype(float) - position) ** 2).sum(axis=1)
        within = np.sort(square[square <= radius * radius])
        reach = within[k - 1] if len(within) >= k else radius * radius
        some = stored[square <= reach * (1 + 1e-12)]
        facing = -(some["direction"].astype(float) @ normal) > 0
        out[number] = some["power"][facing].astype(float).sum(axis=0) / (np.pi * reach)
    return out


def test_the_nearest_are_those_of_all_photons(cornell: raystream.Scene) -> None:
    """The estimate is what the photon program adds to Whitted's picture of the same samples: against all photons."""
    size, k = (24, 24), 20
    renderer = Renderer(cornell, **SINGLE, **FEW, **POINT, nearest=k)
    plain = Renderer(cornell, **{**SINGLE, "program": "whitted"}, **POINT)
    found = renderer.render(size, spp=1, layers=("albedo", "normal", "depth", "triangle"))
    added = found.linear.astype(float) - plain.render(size, spp=1).linear
    origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*size))
    depth, normal = found.layers["depth"].ravel(), found.layers["normal"].reshape(-1, 3).astype(float)
    hit = np.flatnonzero(np.isfinite(depth) & (found.linear.reshape(-1, 3).max(axis=1) < 5))  # not the lamp itself
    positions = origins[hit] + directions[hit] * depth[hit, None]
    low, high = cornell.bounds()
    radius = MAX_RADIUS_SHARE * float(np.linalg.norm(np.asarray(high, float) - low))
    wanted = estimate_of(positions, normal[hit], photons_of(renderer).ravel(), k, radius)
    wanted *= found.layers["albedo"].reshape(-1, 3)[hit].astype(float) / np.pi
    given = added.reshape(-1, 3)[hit]
    # The k-th of all may be just beyond the first k that the search has met, whose farthest sets the disc.
    close = np.abs(given - wanted).max(axis=1) <= 1e-3 * wanted.max(axis=1) + 1e-6
    assert close.mean() > 0.5 and len(hit) > 400
    assert abs(given.mean() / wanted.mean() - 1) < 0.1


def test_machines_agree_to_the_bit(cornell: raystream.Scene) -> None:
    """Each search on the single pass and on one other machine, which draws all else for the other's search, too."""
    for estimate, machine in (
        ("progressive", {"fuse": "surface", "mask": "stencil"}),
        ("published", {"fuse": "none", "mask": "tiles"}),
    ):
        options = {**FEW, "photons": 500, "estimate": estimate}
        one, other = (
            Renderer(cornell, **{**SINGLE, **options, **more}).render((8, 8), spp=2).linear
            for more in ({}, {"machine": "multipass", **machine})
        )
        assert one.tobytes() == other.tobytes() and one.max() > 0, (estimate, machine)


# -- what is right ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "share"), [("glass_sphere", 0.025), ("metal_ring", 0.04)])
def test_caustics_as_in_the_references(shared_refs: Path, name: str, share: float) -> None:
    """Block means (16 x 16) of a few progressive samples: within 2 % in the mean of the picture, and the caustic's
    blocks within their noise and bias, measured as 0.013 and 0.020."""
    data = np.load(shared_refs / f"{name}_256.npz")["mean"].astype(float)
    said = json.loads((shared_refs / f"{name}_256.json").read_text())
    renderer = Renderer(
        raystream.load(str(shared_refs / f"{name}.glb")),
        **SINGLE,
        environment="none",
        depth=said["integrator"]["max_depth"] - 1,
        photon_bounces=12,
    )
    linear = renderer.render((128, 128), spp=4).linear.astype(float)  # the map is what takes time to be right
    ours, theirs = (a.reshape(16, len(a) // 16, 16, len(a) // 16, 3).mean(axis=(1, 3)) for a in (linear, data))
    assert abs(ours.mean() / theirs.mean() - 1) < 0.02
    assert np.sqrt(np.mean((ours - theirs) ** 2)) < share * theirs.mean()


def test_radii_shrink_as_they_must() -> None:
    """Squares in proportion to n^(alpha - 1), with alpha = 2/3: the bias falls as the variance does."""
    assert radius_share(0) == 1.0
    squares = [radius_share(number) ** 2 for number in (1, 2, 3)]  # (k + alpha) / (k + 1), one after the other
    assert squares == pytest.approx([5 / 6, 5 / 6 * 8 / 9, 5 / 6 * 8 / 9 * 11 / 12], rel=1e-12)
    assert radius_share(999) ** 2 == pytest.approx(1000 ** (2 / 3 - 1) / 0.9027, rel=2e-3)  # Gamma(5/3) = 0.9027


# -- when ------------------------------------------------------------------------------------------------------------


def test_the_map_is_made_when_light_or_geometry_change(cornell: raystream.Scene) -> None:
    renderer = Renderer(cornell, **SINGLE, **FEW)
    maps = renderer.photon_map
    renderer.render((8, 8), spp=3)
    assert (maps.trace_count, maps.build_count) == (1, 1)
    renderer.update(camera="278,273,-700 278,273,0")
    renderer.render((16, 8), spp=1)
    assert (maps.trace_count, maps.build_count) == (1, 1)  # not the camera
    renderer.update(nearest=10, photon_radius=30)
    renderer.render((8, 8), spp=1)
    assert (maps.trace_count, maps.build_count) == (1, 1)  # nor what the estimate asks for
    renderer.update(seed=3)
    renderer.render((8, 8), spp=1)
    assert (maps.trace_count, maps.build_count) == (2, 2)
    renderer.update(estimate="progressive")
    renderer.render((8, 8), spp=3)
    assert (maps.trace_count, maps.build_count) == (
        4,
        5,
    )  # other photons for every sample, and the first ones in another grid


def test_a_camera_that_moves_sees_the_same_photons() -> None:
    """Nothing flickers: the k-th sample of every picture has the photons that it had; those of the first stay."""
    options: dict[str, Any] = {**SINGLE, "photons": 500, "caustic_photons": 300, "photon_bounces": 4}
    renderer = Renderer(raystream.load("glass_ball"), **options)
    maps, seen = renderer.photon_map, []
    for camera, traced in (("front", 3), ("top", 5), ("0.1,0.4,0.9 0,0,0", 7)):
        renderer.update(camera=camera)
        renderer.render((8, 8), spp=3)
        assert maps.trace_count == traced  # two samples' are traced anew
        seen.append(bits(renderer))
    assert seen[0] == seen[1] == seen[2] and seen[0][0] != seen[0][1]
    before = maps.trace_count, maps.build_count
    renderer.update(camera="0.1,0.4,0.9 0.001,0,0")
    renderer.render((8, 8), spp=1)
    renderer.update(camera="0.1,0.4,0.9 0.002,0,0")
    renderer.render((8, 8), spp=1)
    assert (maps.trace_count, maps.build_count) == (
        before[0],
        before[1] + 1,
    )  # once back to the first sample's, then none


def bits(renderer: Renderer) -> list[bytes]:
    """Of the photons of the first sample and of the last one."""
    maps, names = renderer.photon_map, ("photons of the first sample", "photons")
    with renderer.device.current():
        return [
            maps.scene.resources.stream(name, PHOTON, maps.streams["photons"].size).read().tobytes() for name in names
        ]


@pytest.mark.parametrize("rays", [0, 1])
def test_a_final_gather_of_a_single_ray_has_a_map_of_its_own(device: Any, rays: int) -> None:
    """It holds direct light, which without a gather shadow rays bring; switched on and off."""
    options: dict[str, Any] = {"program": "photon", "photons": 500, "caustic_photons": 100, "environment": "none"}
    changed, new = (
        Renderer(raystream.load("cornell"), device=device, final_gather=k, **options) for k in (1 - rays, rays)
    )
    changed.render((6, 4), spp=1)
    changed.update(final_gather=rays)
    np.testing.assert_array_equal(changed.render((6, 4), spp=1).linear, new.render((6, 4), spp=1).linear)


def test_a_map_is_for_the_picture_s_height(device: Any) -> None:
    """The field of view is that of the height: a wide picture has the photons of a square one as high."""

    def grid(size: tuple[int, int]) -> Any:
        renderer = Renderer(
            raystream.load("cornell"), device=device, program="photon", photons=500, caustic_photons=100
        )
        renderer.render(size, spp=1)
        return renderer.photon_map.grid

    assert grid((4, 40)) == grid((40, 40)) != grid((4, 4))


def test_stages_are_timed_apart() -> None:
    few = {"photons": 300, "photon_bounces": 3, "estimate": "published"}
    renderer = raystream.Renderer("cornell", program="photon", fuse="surface", **few)
    before = renderer.render((8, 8), spp=1).linear.copy()
    found = stage_seconds(renderer, (8, 8))
    assert set(found) == set(STAGES)
    assert (renderer.render((8, 8), spp=1).linear == before).all()  # by the radius that it had
