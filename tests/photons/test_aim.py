"""Photons aimed at what is specular: spheres around it, the power that they bring, and what aim gains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.kernels.photons import STORED
from raystream.lighting.specular_bounds import MAX_SPHERES, SpecularBounds, is_specular
from raystream.scene.builtin.parts.shapes import quads, sphere
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene

SINGLE: dict[str, Any] = {"machine": "singlepass", "program": "photon", "photon_bounces": 5}
FLOOR, GLASS, MIRROR, LAMP = 0, 1, 2, 3
BALL, OTHER = ((-0.4, 0.6, 0.0), 0.5), ((0.5, 0.5, 0.1), 0.45)
MATERIALS = [
    Material("floor"),
    Material("glass", (1.0, 1.0, 1.0, 1.0), kind="dielectric"),
    Material("mirror", (0.9, 0.9, 0.9, 1.0), kind="mirror"),
    Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=(20.0, 18.0, 15.0)),
]


def balls(lights: list[Light], lamp: bool = False) -> Scene:
    """A glass ball and a mirror ball over a floor, under a small lamp that hangs aslant."""
    floor = quads([[(-3, 0, -3), (-3, 0, 3), (3, 0, 3), (3, 0, -3)]])
    shape = sphere(24, 12)
    meshes = [floor.mesh("floor", FLOOR), shape.moved(*BALL).mesh("glass", GLASS)]
    meshes += [shape.moved(*OTHER).mesh("mirror", MIRROR)]
    if lamp:
        corners = [(-0.8, 1.1, -0.2), (-0.6, 0.8, -0.2), (-0.6, 0.8, 0.2), (-0.8, 1.1, 0.2)]
        meshes += [quads([np.add(corners, (1.9, 0.1, 0.0))]).mesh("lamp", LAMP)]
    return Scene(meshes, [Instance(number) for number in range(len(meshes))], MATERIALS, lights=lights)


def photons(renderer: Renderer, passes: int) -> list[np.ndarray]:
    """`PHOTON` of several passes, stored ones alone."""
    found = []
    for number in range(passes):
        with renderer.device.current():
            list(renderer.photon_map.make(renderer.settings, renderer.camera, 64, number))
            records = renderer.photon_map.streams["photons"].read().ravel()
        found.append(records[records["stored"] > 0])
    return found


def caustic_power(passes: list[np.ndarray]) -> np.ndarray:
    """(passes,) power of all caustic photons."""
    return np.array([records["power"][records["stored"] == STORED["caustic"]].sum(dtype=float) for records in passes])


# -- spheres ---------------------------------------------------------------------------------------------------------


def test_every_specular_vertex_is_within_a_sphere() -> None:
    rng = np.random.default_rng(5)
    shape = sphere(12, 6)
    mesh = shape.mesh("both", MIRROR)
    mesh.materials = np.where(np.arange(len(mesh.triangles)) % 7 < 3, FLOOR, MIRROR).astype(np.int32)
    instances = []
    for number in range(60):  # ten heaps
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rng.normal(size=(3, 3)), rng.normal(size=3) + (100 * (number % 10), 0, 0)
        instances.append(Instance(0, matrix, None if rng.random() < 0.5 else GLASS))
    instances.append(Instance(0, np.full((4, 4), np.inf)))  # is nowhere
    scene = Scene([mesh], instances, MATERIALS)
    found = SpecularBounds().spheres(scene)
    assert 8 < len(found) <= MAX_SPHERES
    for instance in instances[:-1]:
        chosen = mesh.triangles if instance.material == GLASS else mesh.triangles[mesh.materials == MIRROR]
        points = mesh.positions[np.unique(chosen)] @ instance.transform[:3, :3].T + instance.transform[:3, 3]
        inside = np.linalg.norm(points[:, None] - found[None, :, :3], axis=2) <= found[:, 3]
        assert inside.any(axis=1).all()


def test_what_moves_or_deforms_in_an_exposure_is_within_one_sphere_of_its_way() -> None:
    """Of a ball of radius 1 that goes from x = 0.1 to 2.1; and of one that swells from 1 to 2."""
    ball = sphere(12, 6).mesh("ball", GLASS)
    places = [np.eye(4) for _ in range(2)]
    places[0][0, 3], places[1][0, 3] = 0.1, 2.1
    (found,) = SpecularBounds().spheres(Scene([ball], [Instance(0, motion=np.stack(places))], MATERIALS))
    np.testing.assert_allclose(found, [1.1, 0, 0, 2], atol=0.01)
    grown = MorphTarget(positions=ball.positions)
    count = len(ball.positions)
    own = Deformation(np.zeros((count, 0), np.int32), np.zeros((count, 0), np.float32), (grown,))
    poses = tuple(MeshPose(weights=np.array([weight])) for weight in (0.0, 1.0))
    swelling = DeformedMesh(ball, own, poses[0]).with_motion(poses)
    (found,) = SpecularBounds().spheres(Scene([swelling], [Instance(0)], MATERIALS))
    np.testing.assert_allclose(found, [0, 0, 0, 2], atol=0.01)


# -- power -----------------------------------------------------------------------------------------------------------

LIGHTS = {
    "point": [Light("point", position=(2.5, 0.9, 0.3))],  # from there one ball is behind the other
    "point in the ball": [Light("point", position=(-0.4, 0.8, 0.1))],
    "spot": [Light("spot", position=(1.0, 2.0, 0.5), direction=(-0.6, -1.0, -0.3), outer=0.35)],
    "wide spot": [Light("spot", position=(0.0, 4.0, 0.5), direction=(0.0, -1.0, 0.0), outer=1.2)],
    "directional": [Light("directional", direction=(-1.0, -0.4, 0.1))],
    "lamp": [],
    "sky": [],
    "sky and point": [Light("point", position=(1.0, 2.0, 0.5), intensity=(9.0, 9.0, 9.0))],
    "several": [Light("point", position=(1.0, 2.0, 0.5)), Light("directional", direction=(0.3, -1.0, 0.0))],
}


def specular_power(renderer: Renderer, passes: int) -> np.ndarray:
    """(passes,) power that comes from the lights to the balls; of aimed photons, where these are sent."""
    found = []
    for number in range(passes):
        with renderer.device.current():
            list(renderer.photon_map.make(renderer.settings, renderer.camera, 64, number))
            stream = renderer.photon_map.streams["photons"]
            records = stream.read()
        if renderer.settings.caustic_photons:
            records = records[-(-renderer.settings.photons // stream.size[0]) :]
        on = [np.linalg.norm(records["position"] - middle, axis=-1) < radius + 1e-4 for middle, radius in (BALL, OTHER)]
        found.append(records["power"][on[0] | on[1]].sum(dtype=float))
    return np.array(found)


@pytest.mark.parametrize("name", LIGHTS)
def test_aim_leaves_nothing_out(name: str) -> None:
    """As much light comes to what is specular as without aim, within four standard errors and the roundings of sums:
    the ball that the lamp's plane cuts, and the one behind the other, would tell what is lost or counted twice."""
    scene = balls(LIGHTS[name], lamp=name in ("lamp", "several"))
    environment = "sky" if name.startswith("sky") else "none"
    options: dict[str, Any] = {**SINGLE, "photon_bounces": 1, "environment": environment}
    renderer = Renderer(scene, **options, photons=1 << 15, caustic_photons=0)
    theirs = specular_power(renderer, 6)
    renderer.update(caustic_photons=1 << 12)
    ours = specular_power(renderer, 6)
    error = np.hypot(ours.std(ddof=1), theirs.std(ddof=1)) / np.sqrt(6) + 1e-4 * theirs.mean()
    assert error < 0.02 * theirs.mean() and abs(ours.mean() - theirs.mean()) < 4 * error


def test_caustics_apart_bring_the_same_power() -> None:
    """Over all bounces, within four standard errors; photons that are not caustic stay the same ones, to the bit."""
    renderer = Renderer(balls([], lamp=True), **SINGLE, photons=4096, caustic_photons=0)
    among = photons(renderer, 12)
    renderer.update(caustic_photons=1024)
    apart = photons(renderer, 12)
    ours, theirs = caustic_power(apart), caustic_power(among)
    error = np.hypot(ours.std(ddof=1), theirs.std(ddof=1)) / np.sqrt(12)
    assert theirs.mean() > 0 and abs(ours.mean() - theirs.mean()) < 4 * error
    for one, other in zip(among, apart, strict=True):
        same = [records[records["stored"] == STORED["indirect"]].tobytes() for records in (one, other)]
        assert same[0] == same[1]


def test_aim_spares_variance() -> None:
    """Of the caustic's power in blocks of the floor, with as many photons: a fiftieth of the
    lamp's flux goes to the ball, so that fifty times as many photons come there. It is 65 times less, since strata are
    finer, too; the variance of 256 blocks by 16 passes is known to 2 (256 x 16)^(-1/2), a few parts in a hundred."""
    count, passes, variances = 2048, 16, []
    renderer = Renderer(raystream.load("glass_ball"), **SINGLE)
    for options in ({"photons": count, "caustic_photons": 0}, {"photons": 1, "caustic_photons": count}):
        blocks = []
        renderer.update(**options)
        for records in photons(renderer, passes):
            caustic = records[records["stored"] == STORED["caustic"]]
            at, weights = caustic["position"], caustic["power"][:, 1]
            blocks.append(
                np.histogram2d(at[:, 0], at[:, 2], bins=16, range=[[-0.25, 0.15], [-0.2, 0.2]], weights=weights)[0]
            )
        assert np.mean(blocks) > 0
        variances.append(np.var(blocks, axis=0, ddof=1).mean())
    assert variances[0] > 50 * variances[1]


def test_what_moves_is_aimed_at_where_it_is() -> None:
    """To the bit as in a scene that is read so; away from the light nothing is sent."""
    scene = balls([Light("spot", position=(-0.4, 3.0, 0.0), direction=(0.0, -1.0, 0.0), outer=0.3)])
    aside = [replace(each) for each in scene.instances]
    aside[1].transform = np.array([[1, 0, 0, 0.3], [0, 1, 0, 0.2], [0, 0, 1, 0.1], [0, 0, 0, 1.0]])
    moved = replace(scene, instances=aside)
    options: dict[str, Any] = {**SINGLE, "photons": 64, "caustic_photons": 256}
    renderer = Renderer(scene, **options)
    before = photons(renderer, 1)[0]
    renderer.update(scene=moved)
    after, anew = photons(renderer, 1)[0], photons(Renderer(moved, **options), 1)[0]
    assert after.tobytes() == anew.tobytes() != before.tobytes()
    assert (after["stored"] == STORED["caustic"]).any()


# -- shares of the lights --------------------------------------------------------------------------------------------


def test_lights_send_their_shares_to_the_photon() -> None:
    """A light of share s sends s N photons, within one: told apart by colour, in a closed room where all arrive."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    room = quads([[corners[number] for number in face] for face in faces]).mesh("room", 0)
    colours = [(1.0, 0.5, 0.25), (0.25, 1.0, 0.5), (0.5, 0.25, 1.0), (1.0, 1.0, 0.125), (0.125, 1.0, 1.0)]
    powers = [7.0, 0.013, 2.1, 0.9, 40.0]
    lights = [
        Light("point", str(number), (0.1 * number, 0.0, 0.2), intensity=tuple(power * c for c in colour))  # type: ignore[arg-type]
        for number, (power, colour) in enumerate(zip(powers, colours, strict=True))
    ]
    lights.insert(2, Light("point", "out", intensity=(0.0, 0.0, 0.0)))  # is left out
    renderer = Renderer(
        Scene([room], [Instance(0)], MATERIALS, lights=lights), **SINGLE, photons=1000, estimate="nearest"
    )
    renderer.render((8, 8), spp=1)
    with renderer.device.current():
        records = renderer.photon_map.streams["photons"].read()[:32].reshape(-1)[:1000]
    power = records["power"].astype(float)
    assert (power > 0).all()
    tint = power / power.max(axis=1, keepdims=True)
    shares = renderer.prepared.lighting.listed.probability
    assert shares.sum() == 1 and len(shares) == len(colours)
    for share, colour in zip(shares, colours, strict=True):
        count = int((np.abs(tint - colour).max(axis=1) < 1e-3).sum())
        assert abs(count - 1000 * share) < 1, (share, count)


def test_environment_and_other_lights_share_aimed_photons() -> None:
    """Half by power, half evenly, within one photon; told apart by colour. All come to a ball that is alone: the
    environment's with L pi times its area, a point light's with I times the solid angle at which the ball is seen."""
    count, radius, radiance, intensity, away = 1000, 0.5, 0.001, 3.0, 2.0
    scene = Scene(
        [Quadric.sphere((0.0, 0.0, 0.0), radius, MIRROR)],
        [Instance(0)],
        MATERIALS,
        lights=[Light("point", position=(away, 0.0, 0.0), intensity=(intensity, 0.0, 0.0))],
    )
    renderer = Renderer(scene, **SINGLE, photons=1, caustic_photons=count, environment=f"0,0,{radiance}")
    with renderer.device.current():
        list(renderer.photon_map.make(renderer.settings, renderer.camera, 64, 0))
        power = renderer.photon_map.streams["photons"].read()["power"]
    first = power[SINGLE["photon_bounces"] :].reshape(-1, 3)[:count].astype(float)  # behind the one that is not aimed
    by_power = renderer.prepared.lighting.listed.environment_levels / (1 << 24)
    sky = count * (by_power + 1 / 2) / 2
    assert by_power < 0.2
    assert (abs(np.count_nonzero(first[:, [2, 0]], axis=0) - (sky, count - sky)) <= 1).all()
    solid_angle = 2 * np.pi * (1 - np.sqrt(1 - (radius / away) ** 2))
    assert np.isclose(first[:, 0].sum(), intensity * solid_angle, rtol=2e-3)
    assert np.isclose(first[:, 2].sum(), radiance * np.pi * 4 * np.pi * radius**2, rtol=2e-3)


# -- what cannot be aimed at -----------------------------------------------------------------------------------------


def test_power_that_is_no_number_is_not_stored() -> None:
    scene = balls([Light("point", position=(1.0, 2.0, 0.5), intensity=(1e30, 1.0, 1.0))])
    scene.materials = [*MATERIALS]
    scene.materials[GLASS] = Material("glass", (float("nan"), 1.0, 1.0, 1.0), kind="dielectric")
    found = photons(Renderer(scene, **SINGLE, photons=2048, caustic_photons=2048), 2)
    assert all(len(records) and np.isfinite(records["power"]).all() for records in found)


@pytest.mark.parametrize(
    ("fields", "aimed"),
    [
        ({"metallic": 1.0, "roughness": 0.0}, True),
        ({"transmission": 1.0, "roughness": 0.0}, True),
        ({"roughness": 0.0}, True),
        ({"roughness": 0.0, "specular_factor": 0.0}, False),
        ({"metallic": 1.0, "roughness": 0.5}, False),
        ({"roughness": 0.5, "clearcoat": 1.0}, True),
        ({"roughness": 0.5, "clearcoat": 1.0, "clearcoat_roughness": 0.3}, False),
        ({"roughness": 0.0, "unlit": True}, False),
    ],
)
def test_smooth_layers_of_principled_materials(fields, aimed):
    """They focus light, as mirrors and glass of the simple kinds do."""
    assert is_specular(Material(kind="principled", **fields)) == aimed
