"""Media that rays are within, on the device against Python's lists: their order, and indices from one into another."""

from __future__ import annotations

from dataclasses import replace

import glsl_call
import numpy as np
from principled_surfaces import Surfaces, towards

from viewer.materials.media import BITS, DEPTH, media, ranks
from viewer.scene.material import Material

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
