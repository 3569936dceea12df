"""The classic material in pictures: a pane, a prism, textures in order, children of a surface, the same bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import OpenEXR
import places
import pytest
from numpy.typing import NDArray

from raystream import Camera, ClassicMaterial, ClassicTexture, Material, Renderer, Scene
from raystream.scene.light import Light
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance
from raystream.scene.texture import Image, Texture

EYE = Camera((0.3, 0.0, 4.0), (0.3, 0.0, 0.0), fov=1.0)
CLEAR = ClassicMaterial(bias=0.0, scale=0.0, transmittance=1.0)  # reflects nothing
WALL = -4.0
SPREAD = 0.05  # change of the wall's colour over a unit of x


def wall() -> Mesh:
    """At z = `WALL`, as bright as x tells: 0.5 + `SPREAD` x, in all channels."""
    x = np.array([-8.0, 8.0, 8.0, -8.0])
    points = np.stack([x, [-8, -8, 8, 8], np.full(4, WALL)], axis=-1)
    colors = np.ones((4, 4))
    colors[:, :3] = (0.5 + SPREAD * x)[:, None]
    return Mesh(points, [[0, 1, 2], [0, 2, 3]], np.ones(2, np.int32), np.tile((0.0, 0, 1), (4, 1)), colors=colors)


def before_the_wall(front: Mesh, glass: ClassicMaterial) -> Scene:
    materials = [Material("glass", kind="classic", classic=glass), Material("wall", kind="classic")]
    return Scene([front, wall()], [Instance(0), Instance(1)], materials, [EYE])


WHITTED = {"machine": "singlepass", "program": "whitted", "environment": "none", "pixel_filter": "point"}


def render(scene: Scene, device: Any, size: tuple[int, int] = (1, 1), **options: Any) -> Any:
    given = {**WHITTED, **options}
    stats = given.pop("stats", False)
    return Renderer(scene, device=device, **given).render(size=size, spp=1, stats=stats)


def place(scene: Scene, device: Any, **options: Any) -> NDArray:
    """(3,): x of the wall that the eye sees, by each channel."""
    seen = render(scene, device, **options).linear[0, 0].astype(float)
    return (seen - 0.5) / SPREAD


def pane(angle: float) -> Mesh:
    """A square of side 2 around (0.3, 0, 0), turned about y."""
    c, s = 0.999 * np.cos(angle), 0.999 * np.sin(angle)
    corners = [[0.3 - c, -1, s], [0.3 + c, -1, -s], [0.3 + c, 1, -s], [0.3 - c, 1, s]]
    return places.flat(places.quads(np.array([corners])))


def before_the_eye(number: int, of: int) -> list[Instance]:
    """So many of the first mesh, each of the material of its number; one where the eye looks, others far beside it."""
    away = [np.eye(4) for _ in range(of)]
    for k, moved in enumerate(away):
        moved[0, 3] = 20.0 * (k - number)
    return [Instance(0, moved, material=k) for k, moved in enumerate(away)]


def refracted(d: NDArray, n: NDArray, ratio: float) -> NDArray:
    """Snell's law; n against d, ratio: index in front / index behind."""
    cosine = -d @ n
    return ratio * d + (ratio * cosine - np.sqrt(1 - ratio**2 * (1 - cosine**2))) * n


@pytest.mark.parametrize("program", ["whitted", "path"])
@pytest.mark.parametrize("model", ["path", "slab"])
def test_a_pane_shifts_what_is_behind_it(device, model: str, program: str) -> None:
    angle, thickness, index = 0.8, 0.7, 1.6
    inside = np.arcsin(np.sin(angle) / index)
    shift = thickness * np.sin(angle - inside) / (np.cos(inside) if model == "slab" else 1.0)
    glass = replace(CLEAR, indices=(index,) * 3, thickness=thickness, thickness_model=model)
    found = place(before_the_wall(pane(angle), glass), device, program=program, depth=2)
    # The pane's front looks to +x: bent towards its normal, the ray leaves at smaller x. Float32 at places up to 8.
    np.testing.assert_allclose(found, 0.3 - shift, atol=1e-4)


def test_a_sheet_parts_channels_side_by_side(device) -> None:
    """They leave parallel: by their own shifts, in the order of their indices (figure 6-13)."""
    angle, indices = 0.8, (1.4, 1.6, 1.8)
    inside = np.arcsin(np.sin(angle) / np.array(indices))
    glass = replace(CLEAR, indices=indices, thickness=0.7)
    found = place(before_the_wall(pane(angle), glass), device, depth=2)
    np.testing.assert_allclose(found, 0.3 - 0.7 * np.sin(angle - inside), atol=1e-4)


def test_a_prism_shows_the_spectrum_in_order(device) -> None:
    """Each channel by Snell's law at both of its faces, which form an angle of 40 degrees; blue is bent most."""
    # The edge is upright at x = -0.7, and the faces go from there towards +x, before and behind.
    indices, edge, half = (1.45, 1.5, 1.55), np.array([-0.7, 0.0, 0.0]), np.radians(20.0)
    along = np.array([[np.cos(half), 0, np.sin(half)], [np.cos(half), 0, -np.sin(half)]])
    near, far, up = edge + 2.5 * along[0], edge + 2.5 * along[1], np.array([0.0, 1.0, 0.0])
    corners = np.array(
        [
            [edge - up, near - up, near + up, edge + up],  # seen from +z
            [far - up, edge - up, edge + up, far + up],
            [near - up, far - up, far + up, near + up],
        ]
    )
    mesh = places.flat(places.quads(corners))
    found = place(before_the_wall(mesh, replace(CLEAR, indices=indices)), device, depth=2)
    wanted = []
    for index in indices:
        o, d = np.array([0.3, 0.0, 4.0]), np.array([0.0, 0.0, -1.0])
        for way, ratio in ((along[0], 1 / index), (along[1], index)):
            n = np.array([-way[2], 0.0, way[0]])  # against d
            o = o + d * ((edge - o) @ n / (d @ n))
            d = refracted(d, n, ratio)
        wanted.append((o + d * ((WALL - o[2]) / d[2]))[0])
    np.testing.assert_allclose(found, wanted, atol=2e-4)  # two refractions in float32, then 4 units of way
    assert 0.3 < found[0] < found[1] < found[2]  # towards the base, blue most


def test_children_of_a_white_surface_are_one_and_three(device) -> None:
    """The eye's ray, a reflected one and three refracted ones; of these each has one child of either kind."""
    glass = replace(CLEAR, scale=0.5, bias=0.2, reflectivity=0.5, indices=(1.4, 1.5, 1.6), thickness=0.1)
    two = places.flat(places.quads(np.array([[[-5, -5, z], [5, -5, z], [5, 5, z], [-5, 5, z]] for z in (0.0, -2.0)])))
    scene = Scene([two], [Instance(0)], [Material("glass", kind="classic", classic=glass)], [EYE])
    stats = render(scene, device, depth=2, stats=True).stats
    assert stats.kernels["arrive"].calls == 1 + 4 + 3 * 2


@pytest.mark.parametrize("program", ["whitted", "path"])
def test_what_is_lit_and_clear_of_glass_is_lambert_s(device, program: str) -> None:
    """Without reflectivity and transmittance (6.6) is the colour, whatever Fresnel's share; unlit it is that without
    any light."""
    lamp = Light("point", position=(0.5, 1.0, 2.0), intensity=(3.0, 4.0, 5.0))
    color, seen = (0.5, 0.25, 0.75, 1.0), []
    paints = [
        Material("paint", color, kind="lambert"),
        Material("lit", color, kind="classic", classic=ClassicMaterial(bias=0.25, lit=True)),
        Material("unlit", color, kind="classic", classic=ClassicMaterial(bias=0.25)),
    ]
    for number in range(3):
        scene = Scene([pane(0.3)], before_the_eye(number, 3), paints, [EYE], lights=[lamp])
        seen.append(render(scene, device, program=program, depth=1).linear[0, 0])
    assert seen[0].min() > 0.01
    np.testing.assert_allclose(seen[1], seen[0], rtol=1e-5)  # Fresnel's two shares are rounded apart
    np.testing.assert_allclose(seen[2], color[:3], rtol=1e-6)


def dot_of(*color: float) -> Texture:
    """One texel, linear."""
    return Texture(Image(np.full((1, 1, 4), color, np.float16)), content="data")


def test_textures_take_their_turns(device) -> None:
    """Figure 6-5: a green material, marble in its place, times a grid, wood in its place; and with wood first."""
    marble, grid, wood = (0.875, 0.75, 0.5, 1.0), (0.5, 0.25, 1.0, 1.0), (0.5, 0.375, 0.125, 1.0)
    label, mist = (1.0, 0.5, 0.0, 0.25), (0.5, 0.25, 0.75, 1.0)
    names = {"marble": ("replace", 0), "grid": ("modulate", 1), "wood": ("replace", 2)}
    names |= {"label": ("decal", 3), "mist": ("blend", 4)}  # to white
    stone, paper, fog = (np.array(color[:3]) for color in (marble, label, mist))
    square = replace(pane(0.0), uvs=np.zeros((6, 2), np.float32))
    textures = [dot_of(*color) for color in (marble, grid, wood, label, mist)]
    cases = (
        (("marble", "grid", "wood"), wood[:3]),
        (("wood", "marble", "grid"), stone * grid[:3]),
        (("marble", "label", "mist"), (stone * 0.75 + paper * 0.25) * (1 - fog) + fog),
        (("marble", "mist", "label"), (stone * (1 - fog) + fog) * 0.75 + paper * 0.25),
    )
    materials = []
    for order, _ in cases:
        layers = tuple(ClassicTexture(number, mode) for mode, number in (names[name] for name in order))
        own = ClassicMaterial(scale=0.5, textures=layers)
        materials.append(Material("paint", (0.0, 1.0, 0.0, 1.0), kind="classic", classic=own))
    for number, (_, wanted) in enumerate(cases):
        scene = Scene([square], before_the_eye(number, 4), materials, [EYE], textures=textures)
        # Exact but for the sum of Fresnel's two shares.
        np.testing.assert_allclose(render(scene, device).linear[0, 0], wanted, rtol=1e-6)


def test_six_faces_are_seen_by_what_is_reflected_and_refracted(device, tmp_path) -> None:
    """A cube map of a colour a face, in a mirror and through a block of glass, from all six sides."""
    sides = ("px", "nx", "py", "ny", "pz", "nz")
    colors = {side: 0.125 * np.arange(k, k + 3, dtype=np.float32) for k, side in enumerate(sides)}
    for side, color in colors.items():
        face = np.broadcast_to(color, (4, 4, 3)).copy()
        header = {"type": OpenEXR.scanlineimage, "compression": OpenEXR.ZIP_COMPRESSION}
        OpenEXR.File(header, {"RGB": face}).write(str(tmp_path / f"{side}.exr"))
    mirror = ClassicMaterial(bias=1.0, scale=0.0, reflectivity=1.0, transmittance=0.5)
    block = ClassicMaterial(bias=0.0, scale=0.0, transmittance=1.0)
    scene = Scene([places.flat(places.box())], [Instance(0)], [Material("cube", kind="classic", classic=mirror)], [EYE])
    options: dict[str, Any] = {"program": "whitted", "environment": str(tmp_path), "pixel_filter": "point", "depth": 3}
    renderer = Renderer(scene, machine="singlepass", device=device, **options)
    for own, sign in ((mirror, 1), (block, -1)):
        renderer.update(replace(scene, materials=[Material("cube", kind="classic", classic=own)]))
        for axis, name in enumerate("xyz"):
            for side in (1, -1):
                away = np.eye(3)[axis] * 4.0 * side
                up = (0.0, 0.0, 1.0) if axis == 1 else (0.0, 1.0, 0.0)
                renderer.update(camera=Camera(tuple(away), (0.0, 0.0, 0.0), up, fov=1.0))
                towards = side * sign * (-1 if axis == 0 else 1)  # the face named +X is seen towards -X
                seen = renderer.render(size=(1, 1), spp=1).linear[0, 0]
                np.testing.assert_allclose(seen, colors[("p" if towards > 0 else "n") + name], atol=1e-6)  # float32
    renderer.release()


def busy() -> Scene:
    """Glass, sheets and paint, lit and not, over a wall."""
    random = np.random.default_rng(2)
    glass = ClassicMaterial(
        *(0.1, 0.9, 2.0), reflectivity=0.7, transmittance=0.8, indices=(1.4, 1.5, 1.6), ambient=(0.9, 0.8, 1.0)
    )
    ball = places.sphere(1)
    mesh = places.flat(np.concatenate([ball, places.box() * np.float32(0.5) + np.float32([1.2, 0.3, 0])]), 0)
    mesh.materials[len(ball) :] = 2
    mesh = replace(mesh, colors=random.random((len(mesh.positions), 4)).astype(np.float32))
    scene = before_the_wall(mesh, glass)
    scene.materials.append(
        Material("sheet", kind="classic", classic=replace(glass, thickness=0.2, lit=True, thickness_model="slab"))
    )
    scene.cameras = [places.FRONT]
    return scene


@pytest.mark.parametrize("program", ["whitted", "path"])
def test_the_same_bits_from_every_machine(program: str, device) -> None:
    runs: list[dict[str, Any]] = [
        {"machine": "singlepass"},
        {"machine": "multipass", "fuse": "surface"},
        {"machine": "multipass", "fuse": "none"},
    ]
    pictures = [
        render(busy(), device, (11, 9), program=program, depth=1, environment="sky", **run).linear for run in runs
    ]
    assert pictures[0].max() > 0
    assert all(np.array_equal(pictures[0], other) for other in pictures[1:])


def test_paths_are_the_tree_in_the_mean(device) -> None:
    """Unlit, where light that has left more surfaces than the depth counts for neither."""
    scene = busy()
    scene.materials[2].classic = replace(scene.materials[0].classic, thickness=0.2)  # type: ignore[type-var]
    common: dict[str, Any] = {"size": (16, 12), "environment": (0.2, 0.3, 0.5), "depth": 3}
    tree = render(scene, device, **common).linear
    renderer = Renderer(
        scene,
        device=device,
        machine="singlepass",
        program="path",
        pixel_filter="point",
        sampler="independent",
        environment=common["environment"],
        depth=3,
    )
    paths = renderer.render(size=(16, 12), spp=64).film
    mean = paths.sum / paths.count[..., None]
    apart = (mean - tree).reshape(-1, 3)
    # The means over all pixels, whose spreads are known from the pixels' own: 4.5 standard errors.
    error = apart.std(axis=0) / np.sqrt(len(apart))
    assert (np.abs(apart.mean(axis=0)) < 4.5 * error).all() and error.max() < 0.01
