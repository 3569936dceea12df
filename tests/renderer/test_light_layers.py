"""Layers of light, shadow, numbers, places and Cryptomattes, against hits, Embree and float64."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import embree
import numpy as np
import places
import pytest
from cryptomatte_reader import Cryptomattes

import raystream
from raystream.base.errors import ViewerError, ViewerWarning
from raystream.cameras.lens import lens_rays
from raystream.film.layers import LIGHT_LAYERS
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling import sampler
from raystream.scene.camera import Camera
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

SIZE = (32, 24)
ROUNDING = 4e-6  # relative to the brightest of what is added up


def rendered(device: Any, scene: Any, spp: int = 16, size: tuple[int, int] = SIZE, **options: Any) -> Any:
    return places.picture(scene, size, spp, "light", program="path", device=device, **options)


def assert_whole(picture: Any) -> None:
    """The layers' sum is the picture."""
    total = sum(picture.layers[name].astype(np.float64) for name in LIGHT_LAYERS)
    scale = np.maximum(np.abs(picture.linear).max(axis=-1, keepdims=True), 1e-3)
    assert (np.abs(total - picture.linear) / scale).max() < ROUNDING and picture.linear.mean() > 0.01
    assert all((picture.layers[name] >= 0).all() for name in LIGHT_LAYERS)


def glossy_room() -> Scene:
    """A room of matte walls with a lamp, a coated sphere of glass and one of metal, a Phong box, and a mirror."""
    metal = Material("metal", (0.9, 0.7, 0.4, 1.0), metallic=1.0, roughness=0.3, kind="principled")
    glass = Material("glass", (1, 1, 1, 1), kind="principled", transmission=1.0, roughness=0.2, clearcoat=0.5)
    plastic = Material("plastic", (0.2, 0.6, 0.3, 1.0), kind="principled", roughness=0.4)
    phong = Material("phong", (0.4, 0.3, 0.3, 1.0), kind="phong", specular=0.3, exponent=20.0, reflectivity=0.2)
    mirror = Material("mirror", (0.9, 0.9, 0.9, 1.0), kind="mirror")
    clear = Material("clear", (1, 1, 1, 1), kind="dielectric")
    ball = places.sphere(3)
    spots = [(-0.5, -0.5, -0.2), (0.4, -0.6, 0), (0, 0.3, -0.3), (-0.6, 0.4, -0.3), (0.6, 0.3, -0.2), (0.1, -0.2, 0.2)]
    meshes = [places.flat(places.box(True)), places.flat(places.LAMP, 1)]
    meshes += [places.flat(0.25 * ball + np.array(spot), 2 + k) for k, spot in enumerate(spots)]
    leaf = Material("leaf", (0.5, 0.7, 0.3, 1.0), kind="principled", diffuse_transmission=0.6)
    meshes.append(places.flat(0.4 * places.LAMP + np.array([0.3, 0.2, 0.0], np.float32), 8))  # under the lamp
    materials = [places.material(0.6), places.material(0.1, 8.0), metal, glass, plastic, phong, mirror, clear, leaf]
    return places.scene(meshes, materials, Camera((0, 0, 0.98), (0, 0, 0), fov=85.0))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"machine": "singlepass"},
        {"accel": "two-level-bvh", "aperture": 0.05},
        {"strategy": "bsdf", "clamp": 0.5},
        {"light_sampler": "tree", "roulette": "auto"},
    ],
    ids=str,
)
def test_the_layers_together_are_the_picture(device, options) -> None:
    picture = rendered(device, glossy_room(), **options)
    assert_whole(picture)
    assert all(picture.layers[name].max() > 0.01 for name in LIGHT_LAYERS)


def seen_over_a_floor(**options: Any) -> dict[str, Any]:
    """Options of a picture before a backdrop."""
    return {"environment": "sky", "ground": "shadow", "background": "gradient"} | options


def gloss_and_lamp() -> Scene:
    """A coated sphere, and a smaller one beside it that shines, both on the floor."""
    gloss = Material("gloss", (0.6, 0.3, 0.2, 1.0), kind="principled", roughness=0.3)
    ball = 0.5 * places.sphere(2)
    lamp = 0.3 * places.sphere(2) + np.array([0.9, -0.2, 0.0], np.float32)
    meshes = [places.flat(ball), places.flat(lamp, 1)]
    return places.scene(meshes, [gloss, places.material(0.1, 2.0)], Camera((0.5, 1.2, 2.5), (0.3, 0, 0), fov=50.0))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"background": "environment"},
        {"background": "1,1,1", "ground": "none"},
        {"background": "blur=20", "ground": "none"},
        {"background": "transparent"},
        {"fisheye": 150.0, "ground": "none", "background": "environment"},
        {"clamp": 0.2},
        {"eye_rays": "shared", "ground": "none"},
    ],
    ids=str,
)
def test_backdrops_and_what_a_floor_mirrors_are_in_layers(device, options) -> None:
    renderer = Renderer(gloss_and_lamp(), program="path", device=device, **seen_over_a_floor(**options))
    plain = renderer.render(SIZE, spp=6)
    picture = renderer.render(SIZE, spp=6, layers="light")
    assert picture.linear.tobytes() == plain.linear.tobytes()
    assert_whole(picture)
    again = renderer.render(SIZE, spp=6, layers="light", film=plain.film)  # its paths are traced once more
    for name in LIGHT_LAYERS:
        assert np.abs(again.layers[name] - picture.layers[name]).max() <= ROUNDING * picture.linear.max(), name
    renderer.release()


def test_what_a_floor_mirrors_is_glossy(device) -> None:
    """Of the floor itself nothing is matte, and what is left of the backdrop is seen itself."""
    scene, options = gloss_and_lamp(), seen_over_a_floor(background="0.5,0.5,0.5", pixel_filter="point")
    renderer = Renderer(scene, program="path", device=device, **options)
    layers = renderer.render(SIZE, spp=16, layers="light,triangle").layers
    floor = layers["triangle"] < 0
    assert layers["direct_glossy"][floor].max() > 0.02 and layers["indirect_glossy"][floor].max() > 1e-3
    for name in ("direct_diffuse", "indirect_diffuse", "direct_transmission", "indirect_transmission"):
        assert not layers[name][floor].any(), name
    seen = layers["emission"][floor]
    assert (seen <= 0.5 + 1e-6).all() and seen.min() < 0.4 and layers["emission"][~floor].max() > 1.9
    renderer.release()


def test_paths_are_sorted_as_they_are_traced(device) -> None:
    """A new picture with layers of light traces its paths once; one of a film that is there traces them again."""
    renderer = Renderer("cornell", program="path", device=device)
    tried = []
    light = renderer.sampler.light_layers
    renderer.sampler.light_layers = lambda *args: tried.append(1) or light(*args)
    picture = renderer.render((24, 24), spp=3, layers="light")
    assert not tried
    again = renderer.render((24, 24), spp=3, layers="light", film=renderer.render((24, 24), spp=3).film)
    assert tried
    assert all(again.layers[name].tobytes() == picture.layers[name].tobytes() for name in LIGHT_LAYERS)
    renderer.release()


def test_paths_are_sorted_by_a_single_pass_whose_first_hits_are_rays(device, monkeypatch) -> None:
    renderer = Renderer("cornell", program="path", device=device)
    settings, camera = renderer.settings, renderer.camera
    assert renderer.sampler.sorts_light(settings, camera)
    assert not renderer.sampler.sorts_light(settings.replace(eye_rays="shared"), camera)
    monkeypatch.setattr(sampler, "resolved_settings", lambda device, settings: settings.replace(machine="multipass"))
    assert not renderer.sampler.sorts_light(settings, camera)
    renderer.release()


def test_a_matte_wall_under_one_light_is_direct_and_diffuse(device) -> None:
    wall = places.alone(
        places.quads(np.array([[[-3, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]]])), places.material(0.5)
    )
    wall.lights = [Light("point", intensity=(7.0, 7.0, 7.0), position=(0.4, 0.3, 2.0))]
    picture = rendered(device, wall, 1, pixel_filter="point", environment="none")
    origins, directions = wall.camera().rays(*SIZE)
    point = origins - directions * (origins[..., 2] / directions[..., 2])[..., None]
    towards = np.array([0.4, 0.3, 2.0]) - point
    square = (towards**2).sum(-1)
    expected = 0.5 / np.pi * 7.0 * towards[..., 2] / square**1.5
    found = picture.layers
    assert np.abs(found["direct_diffuse"] - expected[..., None]).max() < 2e-5 * expected.max()
    for name in set(LIGHT_LAYERS) - {"direct_diffuse"}:
        assert not found[name].any(), name


def test_a_furnace_gives_each_lobe_its_albedo(device) -> None:
    """Under an even sky a convex thing's direct layers are what each lobe scatters of it."""
    sky = {"environment": "1,1,1"}
    matte = rendered(device, places.alone(places.sphere(2), places.material(0.3)), 64, **sky).layers
    inside = (slice(8, 16), slice(12, 20))
    assert np.allclose(matte["direct_diffuse"][inside].mean(), 0.3, atol=0.004)
    assert not matte["direct_glossy"].any() and not matte["direct_transmission"].any()
    assert (matte["emission"][0] == 1).all()  # the sky itself
    mirror = Material("mirror", (0.7, 0.7, 0.7, 1.0), kind="mirror")
    found = rendered(device, places.alone(places.sphere(2), mirror), 4, **sky).layers
    assert np.allclose(found["direct_glossy"][inside], 0.7, atol=1e-5) and not found["direct_diffuse"].any()
    polished = Material("polished", (0.3, 0.3, 0.3, 1.0), kind="phong", reflectivity=0.5)
    found = rendered(device, places.alone(places.sphere(2), polished), 64, **sky).layers
    assert found["direct_diffuse"][inside].mean() == pytest.approx(0.3, abs=0.01)
    assert found["direct_glossy"][inside].mean() == pytest.approx(0.5, abs=0.01)
    thin = Material("thin", (1, 1, 1, 1), kind="principled", transmission=1.0, roughness=0.0)
    pane = places.quads(np.array([[[-3, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]]]))
    found = rendered(device, places.alone(pane, thin), 64, **sky).layers
    both = found["direct_glossy"][inside].mean(), found["direct_transmission"][inside].mean()
    assert both[0] == pytest.approx(0.04, abs=0.01) and both[1] == pytest.approx(0.96, abs=0.01)
    assert not found["direct_diffuse"].any()
    plastic = Material("plastic", (0.5, 0.5, 0.5, 1.0), kind="principled", roughness=0.5)
    found = rendered(device, places.alone(places.sphere(2), plastic), 64, **sky).layers
    diffuse, glossy = found["direct_diffuse"][inside].mean(), found["direct_glossy"][inside].mean()
    assert 0.45 < diffuse < 0.5 and 0.03 < glossy < 0.1


def test_indirect_light_is_of_longer_paths(device) -> None:
    """The same as the layers of path lengths, which other runs make."""
    renderer = Renderer(glossy_room(), program="path", device=device, depth=4)
    picture = renderer.render(SIZE, spp=4, layers="light,bounce")
    found = {name: layer.astype(np.float64) for name, layer in picture.layers.items()}
    scale = max(1e-3, picture.linear.max())
    direct, indirect = (sum(found[name] for name in LIGHT_LAYERS if name.startswith(way)) for way in ("direct", "indi"))
    longer = sum(found[f"bounce.{number}"] for number in range(2, 5))
    for own, other in ((found["emission"], found["bounce.0"]), (direct, found["bounce.1"]), (indirect, longer)):
        assert np.abs(own - other).max() < ROUNDING * scale
    renderer.release()


@pytest.mark.parametrize("program", ["cast", "whitted", "shadow", "photon"])
def test_other_programs_have_none(device, program) -> None:
    renderer = Renderer("cornell", program=program, device=device)
    with pytest.raises(ViewerError, match=f"program {program} traces no paths"):
        renderer.render((8, 8), layers="direct_glossy")
    if program == "cast":
        assert "emission" not in renderer.render((8, 8), layers="all").layers
    renderer.release()


SQUARE_SIZE = (40, 30)
FLOOR = places.quads(np.array([[[-3, 0, 3], [3, 0, 3], [3, 0, -3], [-3, 0, -3]]]))
ABOVE = Camera((0.01, 4.0, 3.0), (0, 0, 0), fov=45.0)


def covered(**more: Any) -> Scene:
    """A floor under a hovering box."""
    box = 0.5 * places.box() + np.array([0.0, 1.2, 0.0], np.float32)
    return places.scene([places.flat(FLOOR), places.flat(box)], [places.material(0.7)], ABOVE, **more)


def layers(device: Any, scene: Scene, spp: int, names: str = "shadow,occlusion", **options: Any) -> dict:
    renderer = Renderer(scene, program="path", device=device, pixel_filter="point", **options)
    found = renderer.render(SQUARE_SIZE, spp=spp, layers=names).layers
    found["distance"] = renderer.prepared.occlusion_distance
    renderer.release()
    return found


def points(scene: Scene) -> tuple[Any, Any, Any, Any]:
    """Of the pixels' centres: whether they hit, points, and normals on their side; and Embree's scene."""
    corners = scene.flatten().corners().astype(np.float64)
    oracle = embree.embree_scene(corners.astype(np.float32))
    origins, directions = (each.reshape(-1, 3) for each in scene.camera().rays(*SQUARE_SIZE))
    answer = oracle.run(origins.astype(np.float32), directions.astype(np.float32), output=1)
    there = answer["primID"] >= 0
    a, b, c = np.moveaxis(corners[answer["primID"]], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals *= -np.sign((normals * directions).sum(axis=1, keepdims=True))
    t = ((a - origins) * normals).sum(-1) / (directions * normals).sum(-1)
    return there, origins + t[:, None] * directions, normals, oracle


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_the_shadow_of_a_point_is_all_or_nothing(device, accel) -> None:
    scene = covered(lights=[Light("point", position=(0.7, 3.0, 0.4), intensity=(5.0, 5.0, 5.0))])
    found = layers(device, scene, 2, environment="none", accel=accel)["shadow"].reshape(-1)
    there, at, normals, oracle = points(scene)
    towards = np.array([0.7, 3.0, 0.4]) - at
    lit = there & ((towards * normals).sum(-1) > 1e-6)
    from_ = (at + 1e-4 * normals).astype(np.float32)
    distance = np.linalg.norm(towards, axis=1)
    hit = oracle.run(from_, (towards / distance[:, None]).astype(np.float32), output=1)
    hidden = lit & (hit["primID"] >= 0) & (hit["tfar"] < distance)
    assert set(np.unique(found)) == {0.0, 1.0}
    assert (found == hidden).mean() > 0.998 and 0.02 < hidden.mean() < 0.5
    assert not found[~there].any()


def test_the_shadow_of_a_lamp_has_a_soft_edge(device) -> None:
    lamp = places.flat(0.8 * places.LAMP + np.array([0, 2.5, 0], np.float32), 1)
    scene = covered()
    scene.meshes.append(lamp)
    scene.instances.append(type(scene.instances[0])(2))
    scene.materials.append(places.material(0.0, 5.0))
    found = layers(device, scene, 64, "shadow,direct_diffuse", environment="none")
    alone = Scene([scene.meshes[0], lamp], scene.instances[:2], scene.materials, scene.cameras)
    free = layers(device, alone, 64, "shadow,direct_diffuse", environment="none")
    assert not free["shadow"].any()
    shadow = found["shadow"]
    assert ((shadow > 0.05) & (shadow < 0.95)).sum() > 30 and (shadow > 0.99).any()
    floor = shadow[-8:]  # below the box; there the picture tells the same
    ratio = 1 - found["direct_diffuse"][-8:, :, 1] / free["direct_diffuse"][-8:, :, 1]
    assert np.abs(floor - ratio).mean() < 0.05


@pytest.mark.parametrize("options", [{}, {"accel": "two-level-bvh", "sampler": "independent"}], ids=str)
def test_occlusion_is_the_cosine_s_share_of_rays_that_meet_something(device, options) -> None:
    spp, rays = 64, 400
    found = layers(device, covered(), spp, "occlusion", **options)
    there, at, normals, oracle = points(covered())
    random = np.random.default_rng(2)
    directions = random.normal(size=(len(at), rays, 3))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    directions += normals[:, None]  # by the cosine
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    origins = np.repeat((at + 1e-4 * normals)[:, None], rays, axis=1)
    flat = [each.reshape(-1, 3).astype(np.float32) for each in (origins, directions)]
    hit = oracle.run(*flat, output=1)
    near = ((hit["primID"] >= 0) & (hit["tfar"] < found["distance"])).reshape(len(at), rays).mean(axis=1)
    near = np.where(there, near, 0)
    assert np.abs(found["occlusion"].reshape(-1) - near).max() < 0.25
    assert np.abs(found["occlusion"].reshape(-1) - near).mean() < 0.02
    assert found["occlusion"].mean() == pytest.approx(near.mean(), abs=0.003) and near.max() > 0.3


HIT_SIZE = (64, 48)
ACCELS = ["bvh", "grid", "two-level-bvh"]


def grid_mesh(materials: Any = 0, name: str = "sheet") -> Mesh:
    """A square from -1 to 1 of 4 x 4 x 2 triangles, bent, with texture coordinates."""
    y, x = np.mgrid[0:5, 0:5].reshape(2, -1) / 2.0 - 1.0
    positions = np.stack([x, y, 0.2 * x * y], axis=-1).astype(np.float32)
    uvs = np.stack([2 * x + 0.1 * y, 1 - y], axis=-1).astype(np.float32)
    corner = (np.arange(4)[:, None] * 5 + np.arange(4)).reshape(-1, 1)
    faces = np.concatenate([corner + [0, 1, 6], corner + [0, 6, 5]])
    return Mesh(positions, faces, np.broadcast_to(materials, len(faces)), uvs=uvs, name=name)


def placed(x: float, y: float, z: float, mirrored: bool = False) -> np.ndarray:
    matrix = np.diag([-0.7 if mirrored else 0.7, 0.7, 0.7, 1.0])
    matrix[:3, 3] = x, y, z
    return matrix


def scene() -> Scene:
    """A sheet of two materials, a mirrored and overridden copy of it, and one without coordinates behind."""
    both = grid_mesh(np.arange(32) % 2)
    bare = grid_mesh(2, "bare")
    bare.uvs = None
    instances = [
        Instance(0, placed(-0.5, 0, 0), name="left"),
        Instance(0, placed(0.6, 0.1, 0.1, mirrored=True), material=2, name="right"),
        Instance(1, placed(0, 0, -0.9) @ np.diag([3, 3, 3, 1]), name="behind"),
    ]
    hierarchy = Hierarchy.of([-1, 0, 0, -1], np.zeros((4, 3)), [1, 2, 3], names=["pair", "left", "right", "wall"])
    hierarchy = Hierarchy(**{**vars(hierarchy), "classes": ["paper", "", "", ""]})
    materials = [Material("even"), Material("odd"), Material("blue")]
    cameras = [Camera((0.3, 0.4, 4), (0, 0, 0), fov=38.0)]
    return Scene([both, bare], instances, materials, cameras, name="sheets", hierarchy=hierarchy)


def expected(renderer: Renderer, origins: np.ndarray, directions: np.ndarray) -> dict[str, np.ndarray]:
    """Of rays (N, 3), in float64, by Embree: instance, triangle within it, position and texture coordinates."""
    shown = renderer.scene
    corners, owners, uvs, materials = [], [], [], []
    for number, instance in enumerate(shown.instances):
        mesh = shown.meshes[instance.mesh]
        points = mesh.positions.astype(np.float64) @ instance.transform[:3, :3].T + instance.transform[:3, 3]
        corners.append(points[mesh.triangles])
        owners.append(np.full(len(mesh.triangles), number))
        uvs.append((np.zeros_like(mesh.positions[:, :2]) if mesh.uvs is None else mesh.uvs)[mesh.triangles])
        materials.append(
            mesh.materials if instance.material is None else np.full(len(mesh.triangles), instance.material)
        )
    triangles = np.concatenate(corners)
    oracle = embree.embree_scene(triangles.astype(np.float32))
    hit = oracle.run(origins.astype(np.float32), directions.astype(np.float32), output=1)["primID"]
    there = hit >= 0
    a, b, c = np.moveaxis(triangles[hit], 1, 0)
    normal = np.cross(b - a, c - a)
    t = ((a - origins) * normal).sum(-1) / (directions * normal).sum(-1)
    point = origins + t[:, None] * directions
    area = (normal * normal).sum(-1)
    second = (np.cross(point - a, c - a) * normal).sum(-1) / area
    third = (np.cross(b - a, point - a) * normal).sum(-1) / area
    weights = np.stack([1 - second - third, second, third], axis=-1)
    return {
        "instance": np.where(there, np.concatenate(owners)[hit], -1),
        "material": np.where(there, np.concatenate(materials)[hit], -1),
        "position": np.where(there[:, None], point, 0),
        "uv": np.where(there[:, None], (np.concatenate(uvs)[hit].astype(np.float64) * weights[..., None]).sum(1), 0),
    }


@pytest.mark.parametrize("accel", ACCELS)
@pytest.mark.parametrize("program", ["cast", "path"])
def test_numbers_and_places_are_those_of_the_pixels_centres(device, accel, program) -> None:
    renderer = Renderer(scene(), program=program, accel=accel, device=device)
    layers = ("ids", "uv", "position", "instance")
    picture = renderer.render(HIT_SIZE, spp=1, layers=layers)
    found = {name: layer.reshape(-1, *layer.shape[2:]) for name, layer in picture.layers.items()}
    of = expected(renderer, *(each.reshape(-1, 3) for each in renderer.camera.rays(*HIT_SIZE)))
    same = found["instance"] == of["instance"]
    assert (~same).sum() <= 2 and set(np.unique(of["instance"])) == {-1, 0, 1, 2}
    assert (found["material"] == of["material"])[same].mean() > 0.998  # edges between triangles
    assert (found["object"] == of["instance"])[same].all()
    assert (found["part"] == of["instance"])[same].all()
    assert (found["class"] == np.array([0, 0, -1, -1])[of["instance"]])[same].all()
    assert np.abs(found["position"] - of["position"])[same].max() < 5e-6
    assert np.abs(found["uv"] - of["uv"])[same].max() < 2e-5
    names = {name: json.loads(picture.metadata[f"{name} names"]) for name in ("object", "material", "class", "part")}
    assert names == {
        "object": {"0": "left", "1": "right", "2": "behind"},
        "material": {"0": "even", "1": "odd", "2": "blue"},
        "class": {"0": "paper"},
        "part": {"0": "pair/left", "1": "pair/right", "2": "behind"},
    }
    assert found["object"].dtype == found["part"].dtype == np.int32
    assert found["uv"].dtype == found["position"].dtype == np.float32
    renderer.release()


@pytest.mark.parametrize("options", [{}, {"accel": "two-level-bvh", "aperture": 0.1}], ids=str)
def test_mattes_are_what_the_samples_see(device, tmp_path: Path, options) -> None:
    """Coverage of each name is the share of the film's own camera rays that hit it, read back by another reader."""
    renderer, spp = Renderer(scene(), program="path", device=device, pixel_filter="gaussian", **options), 8
    picture = renderer.render(HIT_SIZE, spp=spp, layers="cryptomatte,depth")
    picture.save(tmp_path / "a.exr")
    read = Cryptomattes(tmp_path / "a.exr")
    assert set(read.manifests) == {"CryptoObject", "CryptoMaterial", "CryptoAsset"}
    assert set(read.manifests["CryptoObject"]) == {"left", "right", "behind"}
    assert set(read.manifests["CryptoMaterial"]) == {"even", "odd", "blue"}
    assert set(read.manifests["CryptoAsset"]) == {"pair", "wall"}
    objects = sum(read.matte("CryptoObject", name) for name in read.manifests["CryptoObject"])
    for layer in ("CryptoMaterial", "CryptoAsset"):
        assert np.allclose(sum(read.matte(layer, name) for name in read.manifests[layer]), objects, atol=1e-6)
    assert np.allclose(
        read.matte("CryptoAsset", "pair"), read.matte("CryptoObject", "left") + read.matte("CryptoObject", "right")
    )
    pairs = read.pairs("CryptoObject")
    assert (np.diff(pairs[..., 1], axis=-1) <= 0).all()  # ranked
    assert np.allclose(pairs[..., 1] * spp, np.round(pairs[..., 1] * spp))  # whole samples
    assert ((pairs[..., 0, 1] > 0) & (pairs[..., 0, 1] < 1)).any()
    # Mean coverage, against as many rays again by NumPy's own numbers through the same lens and filter.
    random, rays = np.random.default_rng(5), 40
    y, x = np.mgrid[: HIT_SIZE[1], : HIT_SIZE[0]].reshape(2, -1)
    pixels = np.repeat(np.stack([x, y], axis=-1), rays, axis=0)
    u = random.random((2, len(pixels), 2))
    of = expected(renderer, *lens_rays(renderer.camera, HIT_SIZE, pixels, u[0], u[1], "gaussian"))
    for number, name in enumerate(("left", "right", "behind")):
        share = (of["instance"] == number).reshape(HIT_SIZE[1], HIT_SIZE[0], rays).mean(axis=-1)
        matte = read.matte("CryptoObject", name)
        deviation = np.sqrt(np.maximum(share * (1 - share), 0.02) * (1 / spp + 1 / rays))
        assert (np.abs(matte - share) < 4 * deviation + 1e-6).mean() > 0.995
        assert np.abs(matte.mean() - share.mean()) < 2e-3
    renderer.release()


def test_mattes_of_adaptive_pictures_are_of_each_pixel_s_own_samples(device) -> None:
    renderer = Renderer(raystream.load("cornell"), program="path", device=device, depth=2)
    picture = renderer.render((48, 48), spp=128, error=0.06, layers="cryptomatte,samples")
    counts = picture.layers["samples"]
    assert counts.min() < counts.max(), "an adaptive picture is what this is about"
    matte = picture.layers["crypto_object"][..., 1::2]
    assert np.allclose(matte * counts[..., None], np.round(matte * counts[..., None]), atol=1e-3)
    assert matte.sum(axis=-1).max() <= 1 + 1e-6 and (matte[20:30, 20:30].sum(axis=-1) == 1).all()
    renderer.release()


def test_mattes_of_the_ray_caster_are_of_the_centres(device) -> None:
    renderer = Renderer(scene(), program="cast", device=device)
    found = renderer.render(HIT_SIZE, layers="cryptomatte,instance").layers
    assert (found["crypto_object"][..., 1] == (found["instance"] >= 0)).all()
    assert not found["crypto_object"][..., 2:].any()
    renderer.release()


def test_names_that_are_cut_are_told(device) -> None:
    shown = scene()
    shown.instances[0].name = "x" * 10_000
    renderer = Renderer(shown, program="cast", device=device)
    with pytest.warns(ViewerWarning, match="1 names of more than 256 bytes are cut"):
        picture = renderer.render(HIT_SIZE, layers="object,crypto_object")
    (first,) = (name for name in json.loads(picture.metadata["object names"]).values() if "x" in name)
    assert len(first) == 256 and first.startswith("xxx") and first[-9] == "~"
    renderer.release()


def test_a_hundred_thousand_instances_keep_their_names_in_files(device, tmp_path: Path) -> None:
    """As many pixels, each with an instance of its own: numbers and ids are exact, in a header beyond a mebibyte."""
    side = 320
    quad = Mesh(
        np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    )
    places = np.tile(np.eye(4), (side * side, 1, 1))
    rows, columns = np.divmod(np.arange(side * side), side)
    places[:, 0, 3], places[:, 1, 3] = columns - side / 2, side / 2 - 1 - rows
    instances = [Instance(0, place, name=f"tile {number}") for number, place in enumerate(places)]
    camera = Camera((0, 0, side), (0, 0, 0), fov=float(2 * np.degrees(np.arctan(0.5))))
    renderer = Renderer(Scene([quad], instances, cameras=[camera]), program="cast", device=device)
    picture = renderer.render((side, side), layers="object,crypto_object")
    assert (picture.layers["object"].reshape(-1) == np.arange(side * side)).all()
    picture.save(tmp_path / "a.exr")
    from raystream.film.files.compare import read as read_layer
    from raystream.film.files.image import exr_header

    assert (read_layer(tmp_path / "a.exr", "object").pixels.reshape(-1) == np.arange(side * side)).all()
    assert len(exr_header(tmp_path / "a.exr").texts["object names"]) > 1 << 20
    read = Cryptomattes(tmp_path / "a.exr")
    assert set(read.manifests["CryptoObject"]) == {f"tile {number}" for number in range(side * side)}
    for number in (0, 319, 51_234, side * side - 1):
        matte = read.matte("CryptoObject", f"tile {number}").reshape(-1)
        assert matte[number] == 1 and matte.sum() <= 2  # two names of so many may share an id
    renderer.release()
