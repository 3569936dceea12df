"""Feature buffers: what the camera rays of a picture's samples hit, added up, against NumPy and `Renderer.trace`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from numpy.typing import NDArray

import raystream
from raystream.cameras.lens import lens_rays
from raystream.film.device_film import Buffer
from raystream.film.layers import LAYERS
from raystream.kernels.records import FEATURES
from raystream.renderer.layers import write_feature_layers
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.sampler import FramePlan
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture

SIZE = (26, 19)
SAMPLES = 5
# A sum of so many float32 terms, none of them right beyond the rounding of the intersection.
CLOSE = 2e-5
PANES = (0.4, 0.2), (0.25, 0.8)  # of the nearer pane and of the farther one: opacity, and red of its colour


def room() -> Scene:
    """A sphere of flat triangles before a tilted wall of another colour, and sky around them."""
    wall = places.quads(np.array([[[-2, -1, -1.5], [2, -1, -1.5], [2, 1.2, -0.5], [-2, 1.2, -0.5]]]))
    meshes = [places.flat(0.7 * places.sphere(2)), places.flat(wall, 1)]
    materials = [places.material(0.25), places.material(0.75)]
    return places.scene(meshes, materials, Camera((0.3, 0.4, 4), (0, 0, 0), fov=42.0))


def panes() -> Scene:
    """Two blended panes before the sky and, on the left, a wall; the camera is at (0, 0, 4) and sees nothing else."""
    corners = np.array([[-9, -9, 0], [9, -9, 0], [9, 8.1, 0], [-9, 8.1, 0]])
    left = np.array([[-9, -9, -2], [0, -9, -2], [0, 8.1, -2], [-9, 8.1, -2]])
    quads = [corners + [0, 0, 1], corners, left]
    blended = {"kind": "lambert", "alpha_mode": "blend", "double_sided": True}
    materials = [Material(f"pane {k}", (PANES[k][1], 0.0, 0.0, PANES[k][0]), **blended) for k in range(2)]
    meshes = [places.flat(places.quads([quad]), k) for k, quad in enumerate(quads)]
    return places.scene(meshes, [*materials, places.material(0.5)], Camera((0, 0, 4), (0, 0, 0), fov=20.0))


def features(renderer: Renderer, *samples: int, **options: Any) -> NDArray:
    """(H, W) of the record, brought to so many samples, one number after the other."""
    buffer = Buffer(renderer.device, FEATURES, SIZE)
    for number in samples or (SAMPLES,):
        *_, share = renderer.sampler.features(
            FramePlan(renderer.settings, renderer.camera, buffer.size, samples=number), buffer, **options
        )
        assert share == 1.0
    found = buffer.read()
    buffer.release()
    return found


def surfaces(renderer: Renderer, origins: NDArray, directions: NDArray) -> dict[str, NDArray]:
    """Of unit rays (N, 3): whether they hit (N,), distance, shading normal on the ray's side and albedo, zeros without
    a hit; of scenes without textures and vertex colours."""
    hits = renderer.trace(origins, directions)
    hit = hits.triangle >= 0
    triangles = renderer.prepared.triangles
    corners = triangles.corners()[hits.triangle[hit]].astype(np.float64)
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weights = np.column_stack([1 - hits.barycentrics[hit].sum(axis=1), hits.barycentrics[hit]])
    normal = np.einsum("nc,nck->nk", weights, triangles.normals[triangles.triangles[hits.triangle[hit]]])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    normal *= -np.sign((face * directions[hit]).sum(axis=1, keepdims=True))
    colors = np.array([material.base_color[:3] for material in renderer.scene.materials])
    out = {"hits": hit.astype(np.float64), "depth": np.zeros(len(hit))}
    out |= {"normal": np.zeros((len(hit), 3)), "albedo": np.zeros((len(hit), 3))}
    out["depth"][hit] = hits.distance[hit]
    out["normal"][hit] = normal
    out["albedo"][hit] = colors[triangles.materials[hits.triangle[hit]]]
    return out


def centres(renderer: Renderer) -> tuple[NDArray, NDArray]:
    """Rays through the pixels' centres, (N, 3) each, as a pinhole has them."""
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    pixels = np.stack([x.ravel(), y.ravel()], axis=-1)
    middle = np.full(pixels.shape, 0.5)
    return lens_rays(renderer.camera, SIZE, pixels, middle, middle, "point")


def flat(found: NDArray, name: str) -> NDArray[np.float64]:
    """(N,) or (N, 3) of a field."""
    return found[name].reshape(-1, *found[name].shape[2:]).astype(np.float64)


@pytest.fixture
def make(device) -> Iterator[Any]:
    """A renderer on the shared device, released at the end."""
    made = []

    def one(scene: Scene, **options: Any) -> Renderer:
        made.append(Renderer(scene, program="path", device=device, **{"ground": "none", **options}))
        return made[-1]

    yield one
    for renderer in made:
        renderer.release()


@pytest.mark.parametrize("scene", ["room", "cornell"])
@pytest.mark.parametrize("options", [{"accel": "bvh"}, {"accel": "grid"}, {"accel": "two-level-bvh"}], ids=str)
def test_of_pixel_centres_they_are_the_sum_of_what_a_trace_finds(make, scene, options):
    renderer = make(room() if scene == "room" else raystream.load(scene), pixel_filter="point", **options)
    found, origins_and_directions = features(renderer), centres(renderer)
    expected = surfaces(renderer, *origins_and_directions)
    assert (found["count"] == SAMPLES).all()
    sure = flat(found, "hits") == SAMPLES * expected["hits"]
    assert (~sure).sum() <= 1  # a ray in a few hundred may pass an edge on the other side
    assert 0.2 < expected["hits"].mean() < 1 or scene == "cornell"
    for name in ("depth", "normal", "albedo"):
        # The surface seen may be the other of two that meet where a ray comes within rounding of their edge.
        off = np.abs(flat(found, name) - SAMPLES * expected[name]).reshape(len(sure), -1).max(axis=1)
        scale = SAMPLES * max(1.0, np.abs(expected[name]).max())
        assert (off[sure] <= CLOSE * scale).mean() > 0.99, name
    missed = flat(found, "hits") == 0
    for name in ("depth", "normal", "albedo"):
        assert not flat(found, name)[missed].any(), name


@pytest.mark.parametrize("lens", [{}, {"aperture": 0.25, "focus": 3.0}], ids=["filter", "lens and filter"])
def test_they_are_those_of_the_samples_own_rays(make, lens):
    """Averaged over many samples: lens and filter by NumPy's own random numbers."""
    renderer = make(room(), pixel_filter="tent", **lens)
    samples = 400
    found = features(renderer, samples)
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    pixels = np.stack([x.ravel(), y.ravel()], axis=-1)
    random = np.random.default_rng(4)
    total = {"hits": 0.0, "depth": 0.0, "normal": 0.0, "albedo": 0.0}
    squares = dict(total)
    for _ in range(samples):
        film, on_lens = random.random((2, len(pixels), 2))
        one = surfaces(renderer, *lens_rays(renderer.camera, SIZE, pixels, film, on_lens, "tent"))
        for name, values in one.items():
            total[name] = total[name] + values
            squares[name] = squares[name] + values**2
    for name in total:
        mean = total[name] / samples
        # Both estimates vary, ours (of Sobol points) at most as much as independent ones.
        deviation = np.sqrt(np.maximum(squares[name] / samples - mean**2, 0) * 2 / samples)
        off = np.abs(flat(found, name) / samples - mean)
        assert (off <= 5 * deviation + 0.02 * max(1.0, mean.max())).all(), name
        assert abs((flat(found, name) / samples - mean).mean()) < 5e-3 * max(1.0, mean.max()), name


def test_hits_are_counted_by_their_surface(make):
    """By instance and material: of one mesh of two materials, of all camera rays that hit, those of the first one's."""
    ball = 0.7 * places.sphere(2)
    mesh = places.flat(np.concatenate([ball, ball + (1.2, 0, 0)]), np.repeat([0, 1], len(ball)))
    materials = [places.material(0.25), places.material(0.75)]
    scene = places.scene([mesh], materials, Camera((0.57, 0.0, 4), (0.57, 0, 0), fov=30.0))
    found = features(make(scene, accel="bvh", environment="none"), 16)
    hit = found["hits"] > 0
    pure = hit & (found["alike"] == found["hits"])
    dark = found["albedo"][..., 0] / np.maximum(found["hits"], 1) < 0.5
    numbers = [np.unique(found["surface"][pure & side]) for side in (dark, ~dark)]
    assert [len(each) for each in numbers] == [1, 1] and numbers[0] != numbers[1] and np.all(found["surface"][hit] > 0)
    mixed = hit & ~pure
    assert mixed.any() and (found["alike"][mixed] >= 1).all() and not found["alike"][~hit].any()
    first = np.where(found["surface"] == numbers[0], 0.25, 0.75)
    expected = found["alike"] * first + (found["hits"] - found["alike"]) * (1.0 - first)
    np.testing.assert_allclose(found["albedo"][..., 0], expected, rtol=1e-5)


def test_what_a_texture_makes_metal_is_a_surface_of_its_own(make):
    """The left half of a wall by its texture, whose factors are a metal's."""
    wall = replace(
        places.flat(places.quads(np.array([[[-2, -1, 0], [2, -1, 0], [2, 1, 0], [-2, 1, 0]]]))),
        uvs=np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], np.float32),
    )
    pixels = np.zeros((1, 2, 4), np.uint8)
    pixels[0, 0, 2] = pixels[..., 3] = 255
    material = Material("trim", kind="principled", metallic=1.0, metallic_roughness_texture=0)
    scene = replace(
        places.scene([wall], [material], Camera((0, 0, 3), (0, 0, 0), fov=20.0)),
        textures=[Texture(Image(pixels), nearest=True, minification="nearest", content="data")],
    )
    found = features(make(scene, accel="bvh"), 4)
    sides = [np.unique(found["surface"][:, part]) for part in (np.s_[:12], np.s_[14:])]
    assert [len(each) for each in sides] == [1, 1] and sides[0] != sides[1]


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_blended_surfaces_count_by_what_they_cover(make, accel):
    """All of a ray's, in the mean as many rays have it that pass at random."""
    renderer = make(panes(), accel=accel, environment=(0.0, 3.0, 0.0), pixel_filter="box")
    found = features(renderer, 3, layered=True)
    (near, near_red), (far, far_red) = PANES
    far *= 1 - near
    rest = 1 - near - far
    for column, wall in ((3, 1.0), (22, 0.0)):
        pixel = found[9, column]
        covers = near + far + wall * rest
        assert pixel["count"] == 3 and pixel["hits"] == pytest.approx(3 * covers, rel=CLOSE)
        assert pixel["alike"] == pytest.approx(3 * near, rel=CLOSE)
        red = near * near_red + far * far_red + wall * rest * 0.5
        assert pixel["albedo"][0] == pytest.approx(3 * red, rel=CLOSE)
        assert pixel["emission"][1] == pytest.approx(3 * 3.0 * (1 - wall) * rest, rel=CLOSE)
        # Distances along the same rays, whose slopes vary within the pixel.
        slope = pixel["depth"] / (3 * near + 4 * far + 6 * wall * rest) / 3
        assert 1.0 <= slope < 1.03
        np.testing.assert_allclose(pixel["normal"], (0, 0, 3 * covers), atol=CLOSE)
    count = 400
    chance = features(renderer, count)
    for name, most in (("hits", 1.0), ("depth", 6.2), ("albedo", 0.8), ("emission", 3.0)):
        # Five deviations of means of values up to this, but for the rays that pass the wall's edge.
        apart = np.abs(chance[name] / count - found[name] / 3)[:, [3, 22]]
        assert apart.max() < 5 * 0.5 * most / np.sqrt(count), name


def test_more_samples_are_the_sum_of_all(make):
    """The first of many is the one of one, and a buffer may be brought on; the numbers follow the seed."""
    renderer = make(room(), pixel_filter="box")
    one, two = features(renderer, 1), features(renderer, 2)
    assert set(np.unique(one["hits"])) == {0, 1} and (one["count"] == 1).all() and (two["count"] == 2).all()
    rest = two["depth"] - one["depth"]
    assert (rest >= 0).all() and not np.allclose(rest, one["depth"])
    assert features(renderer, 1, 2).tobytes() == two.tobytes() == features(renderer, 2, 1).tobytes()
    renderer.update(seed=7)
    assert not np.array_equal(features(renderer, 1)["depth"], one["depth"])


@pytest.mark.parametrize("lens", [{}, {"aperture": 0.2, "focus": 3.0}], ids=["pinhole", "lens"])
def test_every_machine_gives_the_same_bits(make, lens):
    same_bits(make(room(), machine="singlepass", **lens))


def test_every_machine_gives_the_same_bits_of_blended_surfaces(make):
    same_bits(make(panes(), machine="singlepass"), layered=True)


def same_bits(renderer: Renderer, **options: Any) -> None:
    expected = features(renderer, **options)
    assert expected["hits"].any()
    changes: list[dict[str, Any]] = [{"machine": "multipass", "fuse": fuse} for fuse in ("none", "ray", "surface")]
    changes += [{"unroll": 3}, {"policy": "naive"}, {"count": "census"}, {"mask": "kill"}, {"mask": "none"}]
    changes += [{"fuse": "none", "policy": "threshold=0.3"}]
    for change in changes:
        renderer.update(**change)
        assert features(renderer, **options).tobytes() == expected.tobytes(), change


def test_light_of_a_lamp_is_that_of_its_sides(make):
    """Of a panel of one side, and of a double-sided one, which hang before the camera with their backs to it."""
    corners = np.array([[-1.9, -1, 0], [-1.9, 1, 0], [-0.1, 1, 0], [-0.1, -1, 0]])  # clockwise from the camera
    panels = [places.flat(places.quads([corners + (2 * k, 0, 0)]), k) for k in range(2)]
    lamp = places.material(0.0, shines=3.0)
    scene = places.scene(panels, [lamp, replace(lamp, double_sided=True)], Camera((0, 0, 4), (0, 0, 0), fov=42.0))
    found = features(make(scene, environment="none"), 1)
    assert found["hits"][9, [8, 17]].all()
    assert found["emission"][9, [8, 17]].tolist() == [[0, 0, 0], [3, 3, 3]]


def test_layers_are_averages_over_what_is_hit_or_over_all(device):
    """Depth is the mean of the samples that hit, infinite without one; normal and albedo have 0 of misses."""
    records = np.zeros((1, 4), FEATURES.dtype)
    records["count"], records["hits"] = [[4, 4, 4, 0]], [[4, 1, 0, 0]]
    records["depth"] = [[10, 3, 0, 0]]
    records["normal"][0, :2] = (4, -2, 1), (0, 0.5, -1)
    records["albedo"][0, :2] = (1, 2, 3), (0.25, 0.5, 1)
    buffer = Buffer(device, FEATURES, (4, 1))
    buffer.write(records)
    layers = {name: LAYERS[name].empty(1, 4) for name in ("depth", "normal", "albedo")}
    write_feature_layers(buffer, layers)
    buffer.release()
    zero = (0, 0, 0)
    np.testing.assert_array_equal(layers["depth"], [[2.5, 3, np.inf, np.inf]])
    np.testing.assert_array_equal(layers["normal"], [[(1, -0.5, 0.25), (0, 0.125, -0.25), zero, zero]])
    np.testing.assert_array_equal(layers["albedo"], [[(0.25, 0.5, 0.75), (0.0625, 0.125, 0.25), zero, zero]])
