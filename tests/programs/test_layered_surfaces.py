"""glTF's materials in pictures: machines agree, holes, volumes, maps, second coordinates; nothing of it elsewhere."""

from __future__ import annotations

from dataclasses import replace

import glsl_call
import numpy as np
import places
import pytest

from raystream.cli.shader_check import layered
from raystream.kernels.records import HIT
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.environment import ConstantEnvironment
from raystream.scene.material import TEXTURE_FIELDS, Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture

WHITE = ConstantEnvironment((1.0, 1.0, 1.0))
CORNERS = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
UVS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
SIZE = (16, 16)


def plate(material: Material, textures=(), behind: Material | None = None, **more) -> Scene:
    """A square of two triangles before the camera, and another one behind it."""
    mesh = Mesh(CORNERS, np.array([[0, 1, 2], [0, 2, 3]]), uvs=UVS, **more)
    scene = Scene([mesh], [Instance(0, material=0)], [material], [Camera((0, 0, 2.0), (0, 0, 0), fov=40.0)])
    scene.textures = list(textures)
    if behind is not None:
        scene.materials.append(behind)
        back = np.diag([4.0, 4.0, 1.0, 1.0])
        back[2, 3] = -1.0
        scene.instances.append(Instance(0, back, 1))
    return scene


def shown(device, scene: Scene, spp: int = 64, **more) -> np.ndarray:
    chosen = {"program": "path", "environment": WHITE, "machine": "singlepass", **more}
    return Renderer(scene, device=device, **chosen).render(SIZE, spp).linear


def dark(name: str, **more) -> Material:
    """It sends nothing of its own."""
    return Material(name, kind="lambert", **{"base_color": (0.0, 0.0, 0.0, 1.0), **more})


def absorbing(color: tuple[float, float, float], distance: float, **more) -> Material:
    """A volume that colours light so after this distance."""
    volume = {"thickness": 1.0, "attenuation_color": color, "attenuation_distance": distance}
    return Material("glass", kind="principled", **volume, **more)


def flat_map(texel=(128, 128, 255, 255), **more) -> Texture:
    return Texture(Image(np.full((4, 4, 4), texel, np.uint8)), content="normal", **more)


def everything() -> Scene:
    """Two of a material with all lobes, and a plain one."""
    maps = {"normal_texture": 1, "clearcoat_normal_texture": 1}
    full = replace(layered(), **{**dict.fromkeys(TEXTURE_FIELDS, 0), **maps})
    random = np.random.default_rng(1).integers(0, 255, (4, 4, 4)).astype(np.uint8)
    scene = plate(full, [Texture(Image(random)), flat_map((100, 150, 220, 255))], Material(kind="principled"))
    return scene


def some() -> Scene:
    """Holes, a normal map, a volume and a coat; all lobes take a minute to compile for all passes."""
    surface = {"roughness": 0.4, "transmission": 0.5, "clearcoat": 0.5, "normal_texture": 0, "alpha_mode": "blend"}
    glass = absorbing((0.5, 0.9, 0.5), 1.0, base_color=(0.9, 0.8, 0.7, 0.6), **surface)
    return plate(glass, [flat_map((100, 150, 220, 255))], Material(kind="principled"))


@pytest.mark.parametrize(
    ("program", "make"),
    [
        ("path", some),
        pytest.param("whitted", some, marks=pytest.mark.slow),
        pytest.param("photon", some, marks=pytest.mark.slow),
        pytest.param("path", everything, marks=pytest.mark.slow),
    ],
)
def test_machines_agree(device, program, make):
    scene, found = make(), []
    more = {"photons": 256} if program == "photon" else {}
    for machine, accel in (("singlepass", "bvh"), ("multipass", "bvh")):
        found.append(shown(device, scene, 2, program=program, machine=machine, accel=accel, **more))
    assert np.isfinite(found[0]).all() and found[0].std() > 0.01
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_opacity_lets_pass_its_share(device, accel):
    half = dark("half", alpha_mode="blend")
    half.base_color = (0.0, 0.0, 0.0, 0.3)
    colors = np.ones((4, 4), np.float32)
    picture = shown(device, plate(half, colors=colors), 256, accel=accel)
    # A mean of 256 samples of chance 0.7 in 256 pixels: within 5 deviations of 0.0018.
    assert picture[4:12, 4:12].mean() == pytest.approx(0.7, abs=5 * np.sqrt(0.21 / (256 * 64)))
    colors[:, 3] = 0.5
    picture = shown(device, plate(half, colors=colors), 256, accel=accel)
    assert picture[4:12, 4:12].mean() == pytest.approx(0.85, abs=5 * np.sqrt(0.13 / (256 * 64)))
    solid = replace(half, alpha_mode="opaque")
    assert not shown(device, plate(solid), 2, accel=accel)[4:12, 4:12].any()


def test_masks_have_holes_for_shadow_rays_as_well(device):
    texels = np.full((1, 2, 4), 255, np.uint8)
    texels[0, 0, 3] = 100  # the left half is below the cutoff
    texture = Texture(Image(texels), ("clamp", "clamp"), nearest=True)
    leaf = dark("leaf", alpha_mode="mask", texture=0)
    picture = shown(device, plate(leaf, [texture]), 4)
    assert np.all(picture[4:12, 4:7] == 1.0) and not picture[4:12, 9:12].any()
    from raystream.scene.light import Light

    floor = Material("floor", (1.0, 1.0, 1.0, 1.0))
    scene = plate(leaf, [texture], floor)
    scene.lights = [Light("directional", direction=(0.0, 0.0, -1.0), intensity=(1.0, 1.0, 1.0))]
    lit = shown(device, scene, 4, environment="none", program="whitted")
    assert lit[4:12, 5:7].mean() > 0.2 and not lit[4:12, 9:12].any()


def test_masks_are_there_from_the_cutoff_on(device):
    """glTF 2.0, 3.9.4: opaque where alpha is greater than or equal to the cutoff. Side by side: at it, just above and
    just below it."""
    cutoffs = (0.5, np.nextafter(np.float32(0.5), 0), np.nextafter(np.float32(0.5), 1))
    scene = plate(dark("mask"))
    scene.materials = [
        Material(base_color=(0.8, 0.8, 0.8, 0.5), alpha_mode="mask", alpha_cutoff=float(each)) for each in cutoffs
    ]
    places_of = [np.eye(4) for _ in cutoffs]
    for k, way in enumerate(places_of):
        way[0, 3] = 3.0 * k
    scene.instances = [Instance(0, way, k) for k, way in enumerate(places_of)]
    origins = [[3.0 * k + 0.5, 0.0, 1.0] for k in range(3)]  # at barycentrics that float32 holds
    found = Renderer(scene, device=device, machine="singlepass").trace(origins, [[0.0, 0.0, -1.0]] * 3)
    assert (found.triangle >= 0).tolist() == [True, True, False]


def test_volumes_absorb_by_the_way_through_them(device):
    """A slab of index 1, which bends nothing: Beer's law by its thickness."""
    glass = absorbing((0.5, 0.25, 1.0), 2.0, roughness=0.0, ior=1.0, transmission=1.0, base_color=(1.0, 1.0, 1.0, 1.0))
    scene = places.alone(places.box(), glass, Camera((0, 0, 40.0), (0, 0, 0), fov=2.0))
    for program in ("path", "whitted"):
        picture = shown(device, scene, 4, program=program, depth=6)
        # Two units through at the middle; rays slanted by 1 degree go 0.02 % further.
        np.testing.assert_allclose(picture[7:9, 7:9].mean(axis=(0, 1)), (0.5, 0.25, 1.0), rtol=2e-3)


def test_normal_maps_lose_next_to_nothing(device):
    """In a white furnace a white metal under a leaning map stays white but for what is reflected below the surface."""
    metal = Material("metal", (1.0, 1.0, 1.0, 1.0), kind="principled", metallic=1.0, roughness=0.4, normal_texture=0)
    flat = shown(device, plate(metal, [flat_map()]), 16, depth=8)[4:12, 4:12]
    assert flat.mean() == pytest.approx(1.0, abs=0.01)  # 128 / 255 is not quite upright
    bent = shown(device, plate(metal, [flat_map((190, 140, 210, 255))]), 64, depth=8)[4:12, 4:12]
    assert 0.8 < bent.mean() < 1.005  # 37 degrees off
    # 70 degrees: bent to 45, where the mirror's image lies level, and half of the lobe above it; else it were black.
    steep = shown(device, plate(metal, [flat_map((248, 128, 171, 255))]), 64, depth=8)[4:12, 4:12]
    assert 0.35 < steep.mean() < 0.65


def test_tangents_follow_from_texture_coordinates(device):
    """With the file's tangents and without, on both sides, in both kinds of structure; and they matter."""
    metal = Material("metal", (1.0, 1.0, 1.0, 1.0), kind="principled", metallic=1.0, roughness=0.3, normal_texture=0)
    map_ = flat_map((200, 128, 200, 255))
    along = np.tile(np.array([1, 0, 0, 1], np.float32), (4, 1))
    sky = {"environment": "sky"}
    derived = shown(device, plate(metal, [map_]), 8, **sky)
    given = shown(device, plate(metal, [map_], tangents=along), 8, **sky)
    np.testing.assert_array_equal(derived, given)
    objects = shown(device, plate(metal, [map_], tangents=along), 8, accel="two-level-bvh", **sky)
    np.testing.assert_allclose(objects, given, atol=1e-4)
    turned = np.tile(np.array([0, 1, 0, 1], np.float32), (4, 1))
    assert np.abs(shown(device, plate(metal, [map_], tangents=turned), 8, **sky) - given).max() > 0.05


@pytest.mark.parametrize("tangents", [None, np.tile(np.array([0.6, 0.8, 0, -1], np.float32), (4, 1))])
def test_tangents_of_mirrored_instances_are_those_of_the_flattened_scene(device, tangents):
    """By the modules of both: from the file, and from texture coordinates."""
    bumpy = Material("bumpy", kind="principled", normal_texture=0)
    scene = plate(bumpy, [flat_map((200, 128, 200, 255))], tangents=tangents)
    turned = np.array([[0.6, -0.8, 0, 0], [0.8, 0.6, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    scene.instances = [Instance(0, turned @ np.diag([side, 2.0, 1.0, 1.0]), 0) for side in (-1.0, 1.0)]
    hits = np.zeros(4, HIT.dtype)
    hits["barycentric"], hits["triangle"], hits["instance"] = (0.25, 0.5), (0, 1, 0, 1), (0, 0, 1, 1)
    text = "vec4 tangent_at(Hit hit) { return tangents_at(hit).tangent; }"
    found = []
    for accel in ("two-level-bvh", "bvh"):
        modules = [
            each
            for each in prepare(scene, accel=accel).modules()
            if {"object_ray", "geometry_at", "tangents_at"} & {*each.provides}
        ]
        function = glsl_call.Function(device, "vec4 tangent_at(Hit hit)", modules=modules, records=[HIT], text=text)
        (tangent,) = function(hits)
        tangent[:, :3] /= np.linalg.norm(tangent[:, :3], axis=1, keepdims=True)
        found.append(tangent)
        hits["triangle"], hits["instance"] = np.arange(4), 0
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert (found[0][:2, 3] == -found[0][2:, 3]).all()
