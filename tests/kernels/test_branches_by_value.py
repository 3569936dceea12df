"""The children of a surface in Whitted's tree, kernel by kernel: which are spawned, and with which weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray

from raystream.kernels.records import PATH, RAY
from raystream.kernels.whitted import BRANCH, TREE

COUNT, LEAST = 64, 0.25
LEVELS = ("level_00", "level_01", "level_02")
# A surface reflects ``first`` and refracts ``second`` of three colours. Channels part where ``third`` is 1.
STAND_INS = """
void bsdf_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    reflected = vec3(0.0, 1.0, 0.0);
    refracted = vec3(0.0, -1.0, 0.0);
    reflection = at.first * vec3(1.0, 0.5, 0.25);
    refraction = at.second * vec3(0.25, 0.5, 1.0);
}
vec3 bsdf_shift(Interaction at, vec3 direction) { return vec3(0.0); }
Media media_behind(Media media, Interaction at, vec3 direction) { return media; }
int media_number(Media media) { return media.inside; }
Media media_of(int number) { return Media(number); }
bool channels_part(Interaction at) { return at.third > 0.5; }
Interaction at_channel(Interaction at, int channel) { at.second *= float(1 + channel); return at; }
"""
REFLECTION, REFRACTION = np.float32([1.0, 0.5, 0.25]), np.float32([0.25, 0.5, 1.0])


def kernel(device: Any, arguments: str, exits: tuple[str, ...], name: str) -> Kernel:
    """A branching kernel over `STAND_INS`."""
    uniforms = {f"whitted_{each}": ("int", 1) for each in ("reflections", "refractions")}
    uniforms["whitted_min_intensity"] = ("float", 0.0)
    records = [INTERACTION, MEDIA, PATH, RAY, TREE, BRANCH]
    includes = ["interface/interaction.glsl"]
    return Kernel(device, f"int {name}({arguments})", exits, records, uniforms, text=STAND_INS, includes=includes)


def state(seed: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Surfaces, paths, media and trees; of some surfaces nothing goes on."""
    random = np.random.default_rng(seed)
    at, path, media, tree = (np.zeros(COUNT, each.dtype) for each in (INTERACTION, PATH, MEDIA, TREE))
    at["normal"], at["wo"] = (0.0, 1.0, 0.0), (0.6, 0.8, 0.0)
    at["first"], at["second"] = random.uniform(0.0, 1.0, (2, COUNT))
    at["first"][::5] = at["second"][::7] = 0.0
    at["third"] = np.arange(COUNT) % 3 == 0
    path["throughput"], path["depth"] = random.uniform(0.25, 1.0, (COUNT, 3)), 1
    media["inside"] = np.arange(COUNT) % 4
    tree["pending"], tree["channel"] = np.arange(COUNT) % 2, np.where(np.arange(COUNT) % 4 == 1, 2, -1)
    return at, path, media, tree


@pytest.mark.parametrize("least", [0.0, LEAST])
def test_reflected_rays(device: Any, least: float) -> None:
    branch = kernel(device, "in Interaction at, inout Path route, out Ray ray", ("ray", "end"), "branch_reflection")
    branch.set(whitted_min_intensity=least)
    at, path, _, _ = state(1)
    exits, (after, _) = branch(at, path)
    weight = path["throughput"] * at["first"][:, None] * REFLECTION
    goes = (weight > least).any(axis=1)
    assert 0 < goes.sum() < COUNT
    assert exits == np.where(goes, "ray", "end").tolist()
    np.testing.assert_allclose(after["throughput"], weight, rtol=1e-6)  # two products of floats
    assert set(after["depth"].tolist()) == {2}


@pytest.mark.parametrize("least", [0.0, LEAST])
def test_refracted_rays(device: Any, least: float) -> None:
    arguments = "in Interaction at, in Path route, in Media media, inout Tree tree, out Branch waiting"
    branch = kernel(device, arguments, (*LEVELS, "none"), "branch_refraction")
    branch.set(whitted_min_intensity=least)
    at, path, media, tree = state(2)
    exits, (after, waiting) = branch(at, path, media, tree)
    weight = path["throughput"] * at["second"][:, None] * REFRACTION
    goes = (weight > least).any(axis=1)
    assert 0 < goes.sum() < COUNT
    assert exits == [LEVELS[level] if goes[k] else "none" for k, level in enumerate(tree["pending"].tolist())]
    np.testing.assert_array_equal(after["pending"], tree["pending"] + goes)
    np.testing.assert_allclose(waiting["weight"], weight, rtol=1e-6)  # two products of floats
    np.testing.assert_array_equal(waiting["inside"], media["inside"])


@pytest.mark.parametrize("least", [0.0, LEAST])
@pytest.mark.parametrize("child", [0, 1, 2])
def test_refracted_rays_where_channels_part(device: Any, child: int, least: float) -> None:
    """One after the other; a ray whose one channel is too weak is passed over, whatever the others have."""
    arguments = "in Interaction at, in Path route, in Media media, inout Tree tree, out Branch waiting"
    branch = kernel(device, arguments, (*LEVELS, "again", "none"), "branch_channels")
    branch.set(whitted_min_intensity=least)
    at, path, media, tree = state(3)
    tree["light"] = child
    exits, (after, waiting) = branch(at, path, media, tree)
    parts, every = at["third"] == 1, tree["channel"] < 0
    channel = np.where(parts & every, child, tree["channel"])
    weight = path["throughput"] * at["second"][:, None] * REFRACTION * np.where(parts, 1 + channel, 1)[:, None]
    weight = np.where(parts[:, None] & (np.arange(3) != channel[:, None]), 0, weight)
    ends = child >= np.where(parts & every, 3, 1)
    goes = ~ends & (weight > least).any(axis=1)
    assert goes.any()
    levels = [LEVELS[level] for level in tree["pending"].tolist()]
    assert exits == np.where(ends, "none", np.where(goes, levels, "again")).tolist()
    np.testing.assert_array_equal(after["pending"], tree["pending"] + goes)
    np.testing.assert_allclose(waiting["weight"][goes], weight[goes], rtol=1e-6)  # three products of floats
