"""Media that rays are within, on the device against Python's lists: their order, and indices from one into another."""

from __future__ import annotations

from dataclasses import replace

import glsl_call
import numpy as np
import pytest
from principled_surfaces import Surfaces, towards

from raystream.kernels.records import PATH, PIXEL, RAY
from raystream.lighting.sampler import sampler
from raystream.materials.media import BITS, DEPTH, MEDIA, media, ranks, ray_media
from raystream.scene.material import Material
from raystream.stream.declare.kernel import Module

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
