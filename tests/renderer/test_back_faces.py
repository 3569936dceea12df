"""Back faces of single-sided materials: not there for the camera, solid for light (glTF 2.0, 3.9.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.preview.gbuffer import raster_meshes
from raystream.scene.edits.materials import culled_of_objects
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.stream.declare.kernel import Module
from raystream.stream.raster import ONE_SIDED

PLATE = places.quads([[(-9, -9, 0), (9, -9, 0), (9, 8.1, 0), (-9, 8.1, 0)]])  # faces +z
FRONT, BACK = Camera((0, 0, 2), (0, 0, 0), fov=35.0), Camera((0, 0, -2), (0, 0, 0), fov=35.0)
RED = Material("red", (0.0, 0.0, 0.0, 1.0), emission=(1.0, 0.0, 0.0), backface_culling=True)
GREEN = Material("green", (0.0, 0.0, 0.0, 1.0), emission=(0.0, 1.0, 0.0), double_sided=True)
GLASS = Material("glass", kind="principled", transmission=1.0, roughness=0.0, backface_culling=True)
GREY = Material("grey", (0.5, 0.5, 0.5, 1.0), kind="lambert")
MIRROR = places.material(1.0, kind="mirror")
STRUCTURES = [
    {"accel": "bvh"},
    {"accel": "bvh", "intersection": "moller-trumbore"},
    {"accel": "bvh", "intersection": "planes"},
    {"accel": "grid"},
    {"accel": "none"},
    {"accel": "two-level-bvh"},
    {"accel": "two-level-grid"},
]


def at(z: float) -> np.ndarray:
    return PLATE + np.float32([0, 0, z])


def between(camera: Camera, material: Material = RED) -> Scene:
    """The plate, with green surfaces behind either side."""
    meshes = [places.flat(PLATE, 0), places.flat(at(-3.0), 1), places.flat(at(3.0), 1)]
    return places.scene(meshes, [material, GREEN], camera)


def picture(device: Any, scene: Scene, spp: int = 1, **options: Any) -> np.ndarray:
    chosen = {"machine": "singlepass", "program": "path", "environment": "none", **options}
    return Renderer(scene, device=device, **chosen).render((8, 8), spp).linear


def is_color(found: np.ndarray, *color: float) -> bool:
    return bool(np.allclose(found, color, rtol=0.0, atol=1e-6))  # a mirror's Fresnel factor is rounded


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda found: "-".join(found.values()))
def test_rays_of_the_view_pass(device, structure: dict[str, str]) -> None:
    """From either side, whichever component of the direction is the largest, in a mirrored instance too."""
    ways = np.array([[0.1, 0.2, 1.0], [1.2, 0.3, 0.6], [-0.3, 1.2, 0.6], [-1.2, 0.3, -0.6], [0.3, -1.2, -0.6]])
    for mirrored in (1.0, -1.0):
        scene = between(BACK)
        scene.instances[0] = Instance(0, np.diag([mirrored, 1.0, 1.0, 1.0]))
        renderer = Renderer(scene, device=device, machine="singlepass", **structure)
        origins, through = -ways * 0.5, 3.0 + 0.5 * np.abs(ways[:, 2])  # to the plate, and beyond it to the next
        for view in (True, False):
            found = renderer.trace(origins, ways, view=view).distance * np.abs(ways[:, 2])
            passes = view & (ways[:, 2] > 0)  # from behind
            assert found == pytest.approx(np.where(passes, through, 0.5 * np.abs(ways[:, 2])), rel=1e-5)


@pytest.mark.parametrize(
    ("program", "first_hits"),
    [("path", "rays"), ("path", "raster"), ("whitted", "rays"), pytest.param("photon", "rays", marks=pytest.mark.slow)],
)
def test_the_camera_sees_through_them(device, program: str, first_hits: str) -> None:
    more: dict[str, Any] = {"program": program, "first_hits": first_hits}
    more |= {"photons": 64} if program == "photon" else {}
    renderer = Renderer(between(BACK), device=device, machine="singlepass", environment="none", **more)
    assert is_color(renderer.render((8, 8), 1).linear, 0, 1, 0)
    renderer.update(camera=FRONT)
    assert is_color(renderer.render((8, 8), 1).linear, 1, 0, 0)


@pytest.mark.parametrize("program", ["path", "whitted"])
def test_mirrors_and_glass_show_what_is_behind(device, program: str) -> None:
    """From the front plate's front side, a mirror before its back."""
    meshes = [places.flat(PLATE, 0), places.flat(at(3.0), 1), places.flat(at(-3.0)[:, ::-1], 2)]
    scene = places.scene(meshes, [RED, GREEN, MIRROR], Camera((0, 0, -1), (0, 0, -3), up=(0, 1, 0), fov=35.0))
    assert is_color(picture(device, scene, program=program), 0, 1, 0)
    thin = replace(GLASS, specular_factor=0.0, base_color=(1.0, 1.0, 1.0, 1.0))
    meshes = [places.flat(PLATE, 0), places.flat(at(3.0), 1), places.flat(at(-1.0), 2)]
    found = picture(device, places.scene(meshes, [RED, GREEN, thin], BACK), 4, program=program)
    assert found[..., 0].max() == 0.0 and found[..., 1].min() > 0.5


def test_light_meets_them(device) -> None:
    """A lamp above a back face, and a white sky: the floor below has the shadow and the light of a solid plate."""
    roof = places.quads([[(-1, 1, -1), (-1, 1, 1), (1, 1, 1), (1, 1, -1)]])[:, ::-1]  # faces the floor
    floor = places.quads([[(-9, 0, -9), (-9, 0, 9), (9, 0, 9), (9, 0, -9)]])
    mirror = places.quads([[(-3, 2, -3), (3, 2, -3), (3, 2, 3), (-3, 2, 3)]])  # above both
    lit = Material("roof", (0.9, 0.9, 0.9, 1.0), backface_culling=True)
    light = Light("directional", direction=(0.0, -1.0, 0.0), intensity=(1.0, 1.0, 1.0))
    below = Camera((0.0, 0.5, 3.0), (0.0, 0.0, 0.0), fov=50.0)  # between floor and roof
    meshes = [places.flat(roof, 0), places.flat(floor, 1), places.flat(mirror, 2)]
    scene = places.scene(meshes, [lit, GREY, MIRROR], below, lights=[light])
    more = {"program": "path", "depth": 4, "environment": (0.5, 0.5, 0.5)}
    held = [picture(device, scene, 4, back_faces=back, **more) for back in ("culled", "shown")]
    # The lower rows see the floor alone, and light of the roof's top that came over the mirror: the same to the bit.
    assert np.array_equal(held[0][5:], held[1][5:]) and held[0][5:].max() > 0.0


def test_machines_agree(device) -> None:
    """Partly opaque plates before a mirror and a matte floor, seen from behind, by every way of cutting a path."""
    half = Material("half", (0.2, 0.4, 0.6, 0.5), kind="lambert", alpha_mode="blend", backface_culling=True)
    meshes = [places.flat(at(0.5), 0), places.flat(PLATE, 1), places.flat(at(1.5)[:, ::-1], 2), places.flat(at(2.0), 3)]
    scene = places.scene(meshes, [replace(half, double_sided=True, backface_culling=False), half, GREY, MIRROR], BACK)
    found = [
        picture(device, scene, 3, environment=(1.0, 1.0, 1.0), depth=4, **more)
        for more in ({}, {"machine": "multipass"}, {"machine": "multipass", "fuse": "none"})
    ]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], picture(device, scene, 3, environment=(1.0, 1.0, 1.0), back_faces="shown"))


def _features(scene: Scene, **options: Any) -> set[str]:
    modules: list[Module] = prepare(scene, **options).modules()
    return {feature for module in modules for feature in module.features}


def test_scenes_without_any_have_nothing_of_it() -> None:
    assert "CULLED" in _features(between(BACK))
    two = replace(RED, backface_culling=False)
    for scene, more in ((between(BACK, two), {}), (between(BACK, GLASS), {}), (between(BACK), {"back_faces": "shown"})):
        for accel in ("bvh", "two-level-bvh"):
            prepared = prepare(scene, accel=accel, **more)
            assert "CULLED" not in {each for module in prepared.modules() for each in module.features}
            tables = [memory for module in prepared.modules() for memory in module.memories]
            assert not any(
                "one_sided" in (memory.record.dtype.names or ()) for memory in tables if memory.name == "triangles"
            )


def test_objects_of_several_materials() -> None:
    mesh: Mesh = places.flat(PLATE, 0)
    scene = Scene([mesh], [Instance(0), Instance(0, material=1), Instance(0, material=0)], [RED, GREEN])
    of, own = np.int32([0, 0, 0]), np.zeros(3, bool)
    assert culled_of_objects(scene, [mesh], of, own) == [None]
    scene.instances.pop(1)
    (sides,) = culled_of_objects(scene, [mesh], of[:2], own[:2])
    assert sides is not None and sides.all()
    mixed = replace(mesh, materials=np.int32([0, 1]))  # its second triangle culls in one of the instances alone
    for order in ([None, 0], [0, None], [0, None, 0]):
        scene.instances = [Instance(0, material=own) for own in order]
        (sides,) = culled_of_objects(scene, [mixed], np.zeros(len(order), np.int32), np.zeros(len(order), bool))
        assert sides is not None and sides.tolist() == [True, False]


def test_instances_under_materials_that_cull_and_that_do_not(device) -> None:
    """One mesh, side by side, seen from behind, by rays and drawn: triangles that instances share cull where all do."""
    plate = places.quads([[(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]])
    meshes = [places.flat(plate, 0), places.flat(at(3.0), 1)]
    for order in ((0, 2), (2, 0), (0, 0)):
        scene = places.scene(meshes, [RED, GREEN, replace(RED, backface_culling=False)], BACK)
        aside = [np.eye(4), np.eye(4)]
        aside[0][0, 3], aside[1][0, 3] = -1.5, 1.5
        scene.instances[:1] = [Instance(0, way, material) for way, material in zip(aside, order, strict=True)]
        renderer = Renderer(scene, device=device, machine="singlepass", accel="two-level-bvh")
        found = renderer.trace([[-1.5, 0, -1], [1.5, 0.1, -1]], [[0.0, 0.0, 1.0]] * 2, view=True).distance
        drawn, _ = raster_meshes(renderer.prepared)
        culls_both = order == (0, 0)
        assert found == pytest.approx(4.0 if culls_both else 1.0)
        assert all(bool((each.kinds & ONE_SIDED).all()) == culls_both for each in drawn[:-1])


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_a_mesh_s_other_material_stays(device, accel: str) -> None:
    """Of a mesh of two materials one culls: its triangles alone, by rays and drawn."""
    scene = between(BACK)
    scene.meshes[0] = replace(scene.meshes[0], materials=np.int32([0, 1]))
    renderer = Renderer(scene, device=device, machine="singlepass", accel=accel)
    drawn, _ = raster_meshes(renderer.prepared)
    assert (drawn[0].kinds & ONE_SIDED).tolist() == [ONE_SIDED, 0]
    middles = scene.meshes[0].positions.reshape(2, 3, 3).mean(axis=1)
    found = renderer.trace(middles - (0, 0, 1), [[0.0, 0.0, 1.0]] * 2, view=True)
    assert found.distance == pytest.approx([4.0, 1.0], rel=1e-5)


def test_updates(device) -> None:
    renderer = Renderer(between(BACK), device=device, machine="singlepass", program="path", environment="none")
    assert is_color(renderer.render((8, 8), 1).linear, 0, 1, 0)
    renderer.update(back_faces="shown")
    assert is_color(renderer.render((8, 8), 1).linear, 0, 0, 0)
    renderer.update(back_faces="culled")
    scene = renderer.scene
    renderer.update(scene=replace(scene, materials=[replace(RED, backface_culling=False), GREEN]))
    assert is_color(renderer.render((8, 8), 1).linear, 0, 0, 0)
    renderer.update(scene=scene)
    assert is_color(renderer.render((8, 8), 1).linear, 0, 1, 0)


def test_a_repeat_behind_a_culled_face_is_seen(device) -> None:
    """Of triangles that are equal the first is kept, unless the camera sees one side of it alone."""
    meshes = [places.flat(PLATE, 0), places.flat(PLATE, 1)]
    for accel in ("bvh", "grid"):
        assert is_color(picture(device, places.scene(meshes, [RED, GREEN], BACK), accel=accel), 0, 1, 0)
