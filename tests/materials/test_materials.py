"""Geometry, materials, interactions and media on the device against float64; origins of rays that leave a surface."""

from __future__ import annotations

from dataclasses import replace

import bsdf_twin as twin
import glsl_call
import numpy as np
import pytest
from principled_surfaces import Surfaces, towards

from raystream.accel import primitives
from raystream.base.errors import ViewerError
from raystream.cameras.lens import thin_lens
from raystream.kernels.records import HIT, PATH, PIXEL, RAY
from raystream.lighting.sampler import sampler
from raystream.materials.bsdf import DELTA
from raystream.materials.geometry import flat_geometry
from raystream.materials.media import BITS, DEPTH, MEDIA, media, ranks, ray_media
from raystream.materials.tables import MAX_EXPONENT, appearance, materials
from raystream.renderer.sampling.ray_queries import FAR
from raystream.scene.camera import Camera
from raystream.scene.material import KINDS, Material
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.declare.kernel import Module

ULP = 2.0**-24
GEOMETRY = "Geometry geometry_at(Ray ray, Hit hit)"
INTERACTION = "Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf)"
OFFSET = "vec3 offset_origin(vec3 position, vec3 normal, vec3 direction, float error)"


def soup(count: int, seed: int, middle: float = 0.0, size: float = 1.0, height: float = 1.0) -> np.ndarray:
    """(count, 3, 3) float32 random triangles; ``height``: of their third corner, in sides."""
    random = np.random.default_rng(seed)
    corners = random.normal(size=(count, 1, 3)) * middle + random.normal(size=(count, 3, 3)) * size
    corners[:, 2] = corners[:, 1] + (corners[:, 2] - corners[:, 1]) * height
    return corners.astype(np.float32)


def scene_of(corners: np.ndarray, **more) -> Scene:
    return Scene.from_triangles(corners.reshape(-1, 3), np.arange(corners[..., 0].size).reshape(-1, 3), **more)


def hits_on(count: int, seed: int) -> np.ndarray:
    hits = np.zeros(count, HIT.dtype)
    hits["triangle"] = np.arange(count)
    hits["barycentric"] = np.random.default_rng(seed).dirichlet((1, 1, 1), count)[:, 1:]
    return hits


def rays_along(directions: np.ndarray) -> np.ndarray:
    rays = np.zeros(len(directions), RAY.dtype)
    rays["direction"], rays["t_max"] = directions, FAR
    return rays


def points_of(corners: np.ndarray, hits: np.ndarray) -> np.ndarray:
    weights = hits["barycentric"].astype(float)
    weights = np.column_stack([1 - weights.sum(axis=1), weights])
    return np.einsum("nk,nkj->nj", weights, corners.astype(float))


def normals_of(corners: np.ndarray) -> np.ndarray:
    a, b, c = corners.astype(float).transpose(1, 0, 2)
    return twin.unit(np.cross(b - a, c - a))


@pytest.mark.parametrize("scale", [1.0, 1e-15, 1e15])
def test_points_and_normals(device, scale):
    count = 20_000
    corners = soup(count, 1, size=scale)
    flat = scene_of(corners).flatten()
    random = np.random.default_rng(2)
    flat.uvs[:], flat.colors[:] = random.random(flat.uvs.shape), random.random(flat.colors.shape)
    flat.normals[:] = twin.unit(random.normal(size=flat.normals.shape))
    function = glsl_call.Function(device, GEOMETRY, modules=[flat_geometry(flat)])
    hits = hits_on(count, 3)
    (at,) = function(rays_along(random.normal(size=(count, 3))), hits)
    error = np.abs(at["position"] - points_of(corners, hits)).max(axis=1)
    assert np.all(error <= 0.2 * at["error"])  # the bound holds for the triangle tests too, which are less exact
    edges = np.linalg.norm(corners[:, 1:].astype(float) - corners[:, :1], axis=2)
    area = np.linalg.norm(np.cross(*(corners[:, 1:].astype(float) - corners[:, :1]).transpose(1, 0, 2)), axis=1)
    # The edges' differences and the products of the cross product are rounded; a slender triangle amplifies that.
    slack = 16 * ULP * edges.max(axis=1) * np.abs(corners).max(axis=(1, 2)) / area
    assert np.all(np.abs(at["normal"] - normals_of(corners)).max(axis=1) <= slack + 4 * ULP)
    weights = np.column_stack([1 - hits["barycentric"].astype(float).sum(axis=1), hits["barycentric"]])
    of = flat.triangles
    normal = np.einsum("nk,nkj->nj", weights, flat.normals[of].astype(float))
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    assert np.all(np.abs(at["shading"] - normal / length) <= 12 * ULP / length)
    for name, values in (("uv", flat.uvs), ("color", flat.colors)):
        got = at[name][:, : values.shape[1]]
        np.testing.assert_allclose(got, np.einsum("nk,nkj->nj", weights, values[of]), atol=8 * ULP)
    ab, ac = np.moveaxis(flat.uvs[of][:, 1:].astype(float) - flat.uvs[of][:, :1], 1, 0)
    change = 0.5 * np.log2(np.abs(ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]) / area)
    # The uvs' differences are exact to a rounding, their cross product where it does not cancel out.
    assert np.quantile(np.abs(at["uv"][:, 2] - change), 0.99) < 1e-3


@pytest.mark.parametrize("height", [1.0, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("middle", [0.0, 100.0])
def test_rays_that_leave_do_not_come_back(device, middle, height):
    """From offset origins no random ray finds the triangle that it leaves, and all are on its right side."""
    count = 50_000
    corners = soup(count, 4, middle, height=height)
    flat = scene_of(corners).flatten()
    hits = hits_on(count, 5)
    directions = twin.unit(np.random.default_rng(6).normal(size=(count, 3)))
    (at,) = glsl_call.Function(device, GEOMETRY, modules=[flat_geometry(flat)])(rays_along(directions), hits)
    offset = glsl_call.Function(device, OFFSET, includes=["lib/offset_origin.glsl"])
    (origins,) = offset(at["position"], at["normal"], directions, at["error"])
    normal = at["normal"].astype(float)
    side = twin.dot(origins - at["position"].astype(float), normal) * np.sign(twin.dot(directions, normal))
    assert np.all(side > 0.5 * at["error"])
    moved = np.linalg.norm(origins - at["position"].astype(float), axis=1)
    size = np.abs(corners).max(axis=(1, 2))
    # 16 units in the last place, and 100 times that for needles, along a normal across three axes: no further.
    assert np.all(moved <= 1.75 * 32 * ULP * (size + 200 * np.abs(corners - corners[:, :1]).max(axis=(1, 2))))
    rays = rays_along(directions)
    rays["origin"] = origins
    text = """bool hit_again(Ray ray, int number) {
        Hit hit = Hit(3.4e38, vec2(0.0), -1, 0);
        triangle_test(ray, triangle_setup(ray), number, 0, hit);
        return hit.triangle >= 0;
    }"""
    for test in ("watertight", "moller-trumbore"):
        module = primitives.triangle_module(test, flat.corners(), middle + 1)
        function = glsl_call.Function(device, "bool hit_again(Ray ray, int number)", modules=[module], text=text)
        found = int(function(rays, np.arange(count))[0].sum())
        assert found <= (0 if test == "watertight" else count // 10_000), test  # the other is less exact on needles


def test_interactions(device):
    count = 6_000
    corners = soup(count, 7)
    scene = scene_of(corners)
    image = Image(np.random.default_rng(8).integers(0, 256, (4, 4, 4), np.uint8))
    found = [
        Material("matte", (0.5, 0.6, 0.7, 1), emission=(3, 2, 1), texture=0),
        Material("mirror", (0.9, 0.8, 0.7, 1), kind="mirror", emission=(1, 1, 1)),
        Material("glass", (1, 1, 1, 1), kind="dielectric", ior=1.4),
        Material("shiny", (0.3, 0.3, 0.3, 1), kind="phong", specular=0.5, exponent=30, reflectivity=0.125),
    ]
    flat = scene.flatten()
    random = np.random.default_rng(9)
    flat.materials = random.integers(0, 4, count).astype(np.int32)
    flat.uvs[:], flat.colors[:] = random.random(flat.uvs.shape), random.random(flat.colors.shape)
    flat.normals[:] = twin.unit(flat.normals + 0.5 * random.normal(size=flat.normals.shape))
    modules = [flat_geometry(flat), *appearance(found, [Texture(image)], [0.25, 0.5, 0, 0])]
    modules += [thin_lens(Camera((0, 0, 0), (0, 0, 1))), sampler()]
    directions = twin.unit(random.normal(size=(count, 3)))
    hits = hits_on(count, 10)
    rays = rays_along(directions)
    found_at, emission, light_pdf = glsl_call.Function(device, INTERACTION, modules=modules)(
        rays, hits, np.zeros(count)
    )
    (geometry,) = glsl_call.Function(device, GEOMETRY, modules=modules[:1])(rays, hits)
    front = twin.dot(normals_of(corners), directions) < 0
    number = flat.materials
    np.testing.assert_array_equal(
        emission, np.where(front[:, None], [m.emission for m in (found[k] for k in number)], 0)
    )
    np.testing.assert_array_equal(light_pdf, np.where(front, np.float32([0.25, 0.5, 0, 0])[number], 0))
    np.testing.assert_array_equal(found_at["kind"], [KINDS[found[k].kind] for k in number])
    np.testing.assert_array_equal(found_at["parameter"], np.float32([0, 0, 1.4, 30])[number])
    np.testing.assert_array_equal(found_at["specular"], np.float32([0, 0, 0, 0.5])[number])
    np.testing.assert_array_equal(found_at["reflectivity"], np.float32([0, 0, 0, 0.125])[number])
    for name in ("position", "normal", "error"):
        np.testing.assert_array_equal(found_at[name], geometry[name])
    seen = twin.dot(geometry["shading"].astype(float), directions) * twin.dot(
        geometry["normal"].astype(float), directions
    )
    delta = np.isin(number, [k for k, m in enumerate(found) if m.kind in DELTA])
    want = np.where(((seen > 0) | delta)[:, None], geometry["shading"], geometry["normal"])
    sure = np.abs(seen) > 1e-5
    assert 0.05 < (seen < 0).mean() < 0.5  # both cases are there
    np.testing.assert_array_equal(found_at["shading"][sure], want[sure])
    lookup = glsl_call.Function(device, "vec3 texture_color(int number, vec3 place)", modules=modules[1:2])
    texel = lookup(np.where(number == 0, 0, -1), geometry["uv"] - [0, 0, 1e3])[0]
    albedo = np.array([m.base_color[:3] for m in found])[number] * geometry["color"] * texel
    np.testing.assert_allclose(found_at["albedo"], albedo, rtol=8 * ULP)


def test_phong_gives_back_no_more_than_comes():
    given = Material("too bright", (0.9, 0.2, 0.1, 1), kind="phong", specular=0.6, exponent=1e9, reflectivity=0.5)
    row = materials([given]).memories[0].data[0]
    assert row["base_color"].max() + row["specular"] + row["reflectivity"] == pytest.approx(1)
    assert row["reflectivity"] == pytest.approx(0.5 / 2)
    assert row["specular"] / row["base_color"][0] == pytest.approx(0.6 / 0.9)
    assert row["parameter"] == MAX_EXPONENT


def test_faults_are_named():
    with pytest.raises(ViewerError, match="material 'm': names texture 1 of 1"):
        materials([Material("m", texture=1)], 1)
    with pytest.raises(ViewerError, match="unknown kind 'velvet'"):
        Material("m", kind="velvet")
    with pytest.raises(ViewerError, match="material 'm': index of refraction 0"):
        materials([Material("m", kind="dielectric", ior=0.0)])
    for index, dispersion in ((1.5, float("nan")), (1.5, -0.1), (0.8, 0.3)):
        with pytest.raises(ViewerError, match="material 'm': dispersion"):
            materials([Material("m", kind="dielectric", ior=index, dispersion=dispersion)])
    assert len(materials([]).memories[0].data) == 1


GLASS = Material("glass", kind="principled", roughness=0.0, transmission=1.0, thickness=1.0, dispersion=10.0)
FOUND = [replace(GLASS, ior=1.2 + 0.1 * k, priority=k, dispersion=5.0 * k) for k in range(6)]


def number(inside: list[int]) -> int:
    """Of ranks in descending order: the highest in the lowest bits."""
    return sum(rank << (BITS * place) for place, rank in enumerate(inside))


def test_up_to_four_are_held_in_their_order(device):
    """Volumes begin and end in any order, two of a material too; of more than four the lowest is forgotten."""
    random, steps = np.random.default_rng(1), []
    for _ in range(60):
        inside: list[int] = []
        for _ in range(8):
            begins = len(inside) < DEPTH or bool(random.random() < 0.2)
            rank = int(random.integers(1, 32) if begins else random.choice(inside))
            after = sorted([*inside, rank], reverse=True)[:DEPTH]
            if not begins:
                after = inside.copy()
                after.remove(rank)
            steps.append((number(inside), rank, begins, number(after), max(after, default=0), rank in inside))
            inside = after
    before, rank, begins, after, top, within = (np.array(each) for each in zip(*steps, strict=True))
    assert (before >> (BITS * (DEPTH - 1)) > 0).sum() > 100
    told = "void told(int before, int rank, bool begins, out int after, out int top, out bool within)"
    text = f"""{told} {{
        after = begins ? media_with(before, rank) : media_without(before, rank);
        top = media_top(after);
        within = media_hold(before, rank);
    }}"""
    found = glsl_call.Function(device, told, modules=[media(FOUND)], text=text)(before, rank, begins)
    for made, want in zip(found, (after, top, within), strict=True):
        np.testing.assert_array_equal(made, want)


def test_the_surface_tells_the_side_and_its_shading_does_not(device):
    """Where a normal map or a smooth normal leans over the horizon, the media are those of the geometric side. In front
    of a volume a ray is within another one of its material, too."""
    surfaces, rank = Surfaces(device, FOUND, nested=True), ranks(FOUND)
    cases = [(k, front, through) for k in (1, 4) for front in (True, False) for through in (True, False)]
    inner, front, through = (np.array(each) for each in zip(*cases, strict=True))
    side = np.where(front, 1.0, -1.0)[:, None]
    at = surfaces.at(inner, np.array([0.8, 0.0, 0.6]) * np.where(side > 0, [1, 1, 1], [1, 1, -1]))
    at["shading"] = (-0.96, 0.0, 0.28)  # away from all of them
    way = np.where(through, -1.0, 1.0)[:, None] * side * [0.0, 0.0, 1.0]
    own, around = np.array([rank[k] for k in inner]), rank[2]
    once, twice = ([number(sorted([around] + [each] * n, reverse=True)) for each in own] for n in (1, 2))
    told = "void told(Interaction at, vec3 way, int inside, out int outside, out int behind)"
    text = f"""{told} {{
        behind = media_number(media_behind(media_of(inside), at, way));
        media_surround(media_of(inside), at);
        outside = interaction_outside(at);
    }}"""
    modules = [*surfaces.modules, ray_media(surfaces.surfaces.interaction, True)]
    outside, behind = glsl_call.Function(device, told, modules=modules, text=text)(at, way, once)
    np.testing.assert_array_equal(outside, np.where(front, np.maximum(own, around), around))
    np.testing.assert_array_equal(behind, np.where(through, np.where(front, twice, around), once))


@pytest.mark.parametrize("kernel", ["gather_ray", "gather_on"])
def test_a_gathering_ray_is_in_the_medium_that_it_goes_into(device, kernel):
    """Through a rough boundary, or back from it; and not in one that an earlier ray of the surface was in."""
    count, found = 64, [replace(each, roughness=0.6) for each in FOUND]
    surfaces, rank = Surfaces(device, found, nested=True), ranks(found)
    names = "END", "RAY", "AGAIN", "PLACE"
    exits = Module(
        "exits",
        (),
        "lib/far.glsl",
        uniforms={"gather_rays": ("int", 1)},
        constants={f"EXIT_{name}": k for k, name in enumerate(names)},
    )
    modules = [*surfaces.modules, ray_media(surfaces.surfaces.interaction, True), sampler(), exits]
    held = "Pixel pixel, Interaction at, Path begun, Media media, inout Path gathering"
    more = {"gather_ray": "out Ray ray, out Media around", "gather_on": "inout Media around, out Ray ray"}
    signature = f"int {kernel}({held}, {more[kernel]})"
    at = surfaces.at(np.full(count, 3), towards(0.15))
    pixel, path, gathering = np.zeros(count, PIXEL.dtype), np.zeros(count, PATH.dtype), np.zeros(count, PATH.dtype)
    pixel["at"] = np.stack(np.divmod(np.arange(count), 8), axis=1)
    path["throughput"], gathering["number"] = 1, -1
    media_, other = np.zeros(count, MEDIA[True].dtype), np.zeros(count, MEDIA[True].dtype)
    media_["inside"], other["inside"] = rank[2], rank[5]
    function = glsl_call.Function(device, signature, [f"kernels/{kernel}.glsl"], modules, [PIXEL, PATH, RAY])
    function.set({"gather_rays": 1, "path_depth": 4})
    given = (pixel, at, path, media_, gathering)
    if kernel == "gather_on":
        ends, _, around, ray = function(*given, other)
    else:
        ends, _, ray, around = function(*given)
    below = ray["direction"][:, 2] < 0
    assert 5 < below[ends == 1].sum() < (ends == 1).sum() - 5
    both = number(sorted([rank[2], rank[3]], reverse=True))
    np.testing.assert_array_equal(around["inside"][ends == 1], np.where(below, both, rank[2])[ends == 1])


def test_from_one_dispersive_medium_into_another(device):
    """Each channel goes from its own index into its own; a medium without dispersion parts channels at one that has."""
    surfaces = Surfaces(device, FOUND, nested=True)
    rank = ranks(FOUND)
    cases = [(k, outside, channel) for k in range(6) for outside in range(7) for channel in range(4)]
    inner, outer, channel = np.array(cases).T
    outside = np.array([0 if k == 6 else rank[k] for k in outer])
    at = surfaces.at(inner, towards(0.9)[0], outside=outside, channel=channel)
    iors = np.array([each.iors for each in FOUND] + [(1.0, 1.0, 1.0)])
    place = np.where(channel > 0, channel - 1, 1)
    want = iors[inner, place] / iors[outer, place]
    np.testing.assert_allclose(surfaces("index", at)[0], want, rtol=1e-6)
    told = glsl_call.Function(device, "bool principled_parts(Interaction at)", modules=surfaces.modules)
    dispersive = np.array([each.dispersion > 0 for each in FOUND] + [False])
    np.testing.assert_array_equal(told(at)[0], dispersive[inner] | dispersive[outer])
    sine = np.sqrt(1 - 0.9**2)
    refracted = surfaces("branches", at, np.tile(towards(0.9), (len(at), 1)))[2]
    through = (channel > 0) & (sine < want * 0.99)
    np.testing.assert_allclose(refracted[through, 0], -sine / want[through], rtol=1e-5)
    assert through.sum() > 100
