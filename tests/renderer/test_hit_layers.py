"""Layers of numbers, places and Cryptomattes, against hits of `Renderer.trace`, Embree and float64."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import embree
import numpy as np
import pytest
from cryptomatte_reader import Cryptomattes

import raystream
from raystream.base.errors import ViewerWarning
from raystream.cameras.lens import lens_rays
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

SIZE = (64, 48)
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
    picture = renderer.render(SIZE, spp=1, layers=layers)
    found = {name: layer.reshape(-1, *layer.shape[2:]) for name, layer in picture.layers.items()}
    of = expected(renderer, *(each.reshape(-1, 3) for each in renderer.camera.rays(*SIZE)))
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
    picture = renderer.render(SIZE, spp=spp, layers="cryptomatte,depth")
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
    y, x = np.mgrid[: SIZE[1], : SIZE[0]].reshape(2, -1)
    pixels = np.repeat(np.stack([x, y], axis=-1), rays, axis=0)
    u = random.random((2, len(pixels), 2))
    of = expected(renderer, *lens_rays(renderer.camera, SIZE, pixels, u[0], u[1], "gaussian"))
    for number, name in enumerate(("left", "right", "behind")):
        share = (of["instance"] == number).reshape(SIZE[1], SIZE[0], rays).mean(axis=-1)
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
    found = renderer.render(SIZE, layers="cryptomatte,instance").layers
    assert (found["crypto_object"][..., 1] == (found["instance"] >= 0)).all()
    assert not found["crypto_object"][..., 2:].any()
    renderer.release()


def test_names_that_are_cut_are_told(device) -> None:
    shown = scene()
    shown.instances[0].name = "x" * 10_000
    renderer = Renderer(shown, program="cast", device=device)
    with pytest.warns(ViewerWarning, match="1 names of more than 256 bytes are cut"):
        picture = renderer.render(SIZE, layers="object,crypto_object")
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
