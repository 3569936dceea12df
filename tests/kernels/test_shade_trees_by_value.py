"""Steps of Whitted's shade tree, kernel by kernel: the rays that follow and those that wait, weights and exits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray

from raystream.kernels.records import FAR, HIT, PATH, PIXEL, RADIANCE, RAY, RAY_VIEW
from raystream.kernels.whitted import BRANCH, TREE

COUNT = 64
RECORDS = [INTERACTION, MEDIA, PATH, RAY, TREE, BRANCH, RADIANCE]
LEVELS = ["level_00", "level_01", "level_02", "level_03"]
SETTINGS: dict[str, tuple[str, Any]] = {"whitted_reflections": ("int", 1), "whitted_refractions": ("int", 1)}
# A surface reflects ``first`` towards +x +y and refracts ``second`` towards -y; behind it is a volume more.
SURFACE = """
void bsdf_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    reflected = vec3(0.6, 0.8, 0.0);
    reflection = at.first * vec3(1.0, 0.5, 0.25);
    refracted = vec3(0.0, -1.0, 0.0);
    refraction = at.second * vec3(0.25, 0.5, 1.0);
}
Media media_of(int number) { return Media(number); }
int media_number(Media media) { return media.inside; }
Media media_behind(Media media, Interaction at, vec3 way) { return Media(way.y < 0.0 ? media.inside + 1 : 0); }
bool channels_part(Interaction at) { return at.third > 0.5; }
Interaction at_channel(Interaction at, int channel) { at.second *= float(1 + channel); return at; }
"""


def surfaces(random: np.random.Generator) -> NDArray:
    at = np.zeros(COUNT, INTERACTION.dtype)
    at["position"] = random.uniform(-1, 1, (COUNT, 3))
    at["normal"], at["error"] = (0.0, 1.0, 0.0), 0.125
    at["first"], at["second"] = random.uniform(0.5, 1.0, (2, COUNT))
    at["first"][:8] = at["second"][8:16] = 0.0
    return at


def paths(random: np.random.Generator) -> NDArray:
    path = np.zeros(COUNT, PATH.dtype)
    path["throughput"] = random.uniform(0.25, 1.0, (COUNT, 3))
    path["depth"], path["number"] = random.integers(0, 4, COUNT), random.integers(0, 9, COUNT)
    path["pdf"] = 0.5
    path["throughput"][16:24, 1] = 0.0
    return path


@pytest.mark.parametrize("features", [(), ("CULLED",), ("CULLED", "BLEND")])
def test_the_reflected_child_is_followed(device: Any, features: tuple[str, ...]) -> None:
    """Unless it has no weight, or there shall be no reflections; it is one that the camera sees along."""
    random = np.random.default_rng(1)
    at, path = surfaces(random), paths(random)
    signature = "int branch_reflection(in Interaction at, inout Path route, out Ray ray)"
    kernel = Kernel(device, signature, ["ray", "end"], RECORDS, SETTINGS, text=SURFACE, features=features)
    exits, (after, ray) = kernel(at, path)
    assert exits == ["end"] * 8 + ["ray"] * (COUNT - 8)
    np.testing.assert_allclose(ray["direction"], np.tile(np.float32([0.6, 0.8, 0.0]), (COUNT, 1)))
    np.testing.assert_allclose(ray["origin"], at["position"] + [0.0, 0.125, 0.0], atol=1e-7)  # a rounding
    np.testing.assert_array_equal(ray["t_max"], np.float32(FAR))
    tag = RAY_VIEW * ("CULLED" in features) + 2 * path["number"] * ("BLEND" in features)
    np.testing.assert_array_equal(ray["any_hit"], tag)
    weight = path["throughput"] * at["first"][:, None] * np.float32([1.0, 0.5, 0.25])
    np.testing.assert_allclose(after["throughput"], weight, rtol=1e-6)
    np.testing.assert_array_equal(after["depth"], path["depth"] + 1)
    kernel.set(whitted_reflections=0)
    assert set(kernel(at, path)[0]) == {"end"}


def test_rays_have_the_time_of_their_path(device: Any) -> None:
    """A number in [0, 1) of the path's pixel and sample, of a dimension of its own, in the place of the sample's."""
    random = np.random.default_rng(6)
    at, path, pixel = surfaces(random), paths(random), np.zeros(COUNT, PIXEL.dtype)
    pixel["at"] = np.stack([np.arange(COUNT), np.full(COUNT, 3)], axis=1)
    text = f"""{SURFACE}
    float sample_1d(ivec2 pixel, int number, int dimension) {{
        return dimension == 65534 ? float(pixel.x) / 128.0 + float(number) / 65536.0 : 0.9;
    }}"""
    tag = RAY_VIEW + 2 * (512 * np.arange(COUNT) + path["number"])
    features, records = ["CULLED", "BLEND", "MOTION"], [*RECORDS, PIXEL]
    signature = "int branch_reflection(in Pixel pixel, in Interaction at, inout Path route, out Ray ray)"
    kernel = Kernel(device, signature, ["ray", "end"], records, SETTINGS, text=text, features=features)
    np.testing.assert_array_equal(kernel(pixel, at, path)[1][1]["any_hit"], tag)
    arguments = "in Pixel pixel, in Branch level, inout Path route, out Media media, inout Tree tree, out Ray ray"
    kernel = Kernel(device, f"int pop_branch({arguments})", ["ray"], records, text=text, features=features)
    branch, tree = np.zeros(COUNT, BRANCH.dtype), np.zeros(COUNT, TREE.dtype)
    np.testing.assert_array_equal(kernel(pixel, branch, path, tree)[1][3]["any_hit"], tag)


def test_the_refracted_child_waits_at_its_level(device: Any) -> None:
    random = np.random.default_rng(2)
    at, path = surfaces(random), paths(random)
    media, tree = np.zeros(COUNT, MEDIA.dtype), np.zeros(COUNT, TREE.dtype)
    media["inside"], tree["pending"], tree["channel"] = random.integers(0, 5, COUNT), np.arange(COUNT) % 4, -1
    signature = (
        "int branch_refraction(in Interaction at, in Path route, in Media media, inout Tree tree, out Branch waiting)"
    )
    kernel = Kernel(device, signature, [*LEVELS, "none"], RECORDS, SETTINGS, text=SURFACE)
    exits, (after, waiting) = kernel(at, path, media, tree)
    weighs = at["second"] > 0
    assert exits == [LEVELS[k % 4] if some else "none" for k, some in enumerate(weighs.tolist())]
    np.testing.assert_array_equal(after["pending"], tree["pending"] + weighs)
    np.testing.assert_array_equal(after["channel"], -1)
    weight = path["throughput"] * at["second"][:, None] * np.float32([0.25, 0.5, 1.0])
    check_waiting(waiting[weighs], at[weighs], path[weighs], media[weighs], weight[weighs])
    np.testing.assert_array_equal(waiting["channel"][weighs], -1)
    kernel.set(whitted_refractions=0)
    assert set(kernel(at, path, media, tree)[0]) == {"none"}


def check_waiting(waiting: NDArray, at: NDArray, path: NDArray, media: NDArray, weight: NDArray) -> None:
    np.testing.assert_allclose(waiting["weight"], weight, rtol=1e-6)
    np.testing.assert_array_equal(waiting["direction"], np.tile([0.0, -1.0, 0.0], (len(at), 1)))
    np.testing.assert_allclose(waiting["origin"], at["position"] - [0.0, 0.125, 0.0], atol=1e-7)  # a rounding
    np.testing.assert_array_equal(waiting["depth"], path["depth"] + 1)
    np.testing.assert_array_equal(waiting["inside"], media["inside"] + 1)


def test_a_child_of_each_channel_where_they_part(device: Any) -> None:
    """Of a ray of all channels three, which carry one each; of one of a channel one; where none part one, as it is."""
    random = np.random.default_rng(3)
    at, path = surfaces(random), paths(random)
    at["third"] = np.arange(COUNT) % 2
    media, tree = np.zeros(COUNT, MEDIA.dtype), np.zeros(COUNT, TREE.dtype)
    tree["channel"] = random.integers(-1, 3, COUNT)
    signature = (
        "int branch_channels(in Interaction at, in Path route, in Media media, inout Tree tree, out Branch waiting)"
    )
    kernel = Kernel(device, signature, [*LEVELS, "again", "none"], RECORDS, SETTINGS, text=SURFACE)
    parts, channel, begun = at["third"] > 0, tree["channel"].copy(), tree.copy()
    pending = np.zeros(COUNT, int)
    for child in range(4):
        exits, (after, waiting) = kernel(at, path, media, tree)
        children = np.where(parts & (channel < 0), 3, 1)
        carried = np.where(parts & (channel < 0), child, channel)
        index = np.where(parts, 1 + carried, 1)
        weight = path["throughput"] * (at["second"] * index)[:, None] * np.float32([0.25, 0.5, 1.0])
        weight[parts] *= np.eye(3)[np.clip(carried[parts], 0, 2)]
        there, weighs = child < children, weight.any(axis=1)
        names = [LEVELS[k] for k in pending.tolist()]
        assert exits == np.where(~there, "none", np.where(weighs, names, "again")).tolist()
        np.testing.assert_array_equal(after["light"], np.where(there, child + 1, 0))
        pending += there & weighs
        np.testing.assert_array_equal(after["pending"], pending)
        some = there & weighs
        check_waiting(waiting[some], at[some], path[some], media[some], weight[some])
        np.testing.assert_array_equal(waiting["channel"][some], carried[some])
        tree = after
        tree["light"][~there] = child + 1  # these would begin anew
    kernel.set(whitted_refractions=0)
    assert set(kernel(at, path, media, begun)[0]) == {"none"}


def test_the_ray_that_waited_last_is_the_next(device: Any) -> None:
    tree = np.zeros(5, TREE.dtype)
    tree["pending"], tree["light"], tree["channel"] = np.arange(5), 7, 2
    kernel = Kernel(device, "int next_branch(inout Tree tree)", [*LEVELS, "end"], RECORDS)
    exits, (after,) = kernel(tree)
    assert exits == ["end", *LEVELS]
    assert after["pending"].tolist() == [0, 0, 1, 2, 3]
    assert set(after["light"].tolist()) == {7} and set(after["channel"].tolist()) == {2}


def test_a_ray_that_waited_goes_on(device: Any) -> None:
    random = np.random.default_rng(4)
    path, tree, branch = paths(random), np.zeros(COUNT, TREE.dtype), np.zeros(COUNT, BRANCH.dtype)
    tree["pending"], tree["light"] = 3, 5
    for name in ("origin", "direction", "weight"):
        branch[name] = random.uniform(-1, 1, (COUNT, 3))
    for name in ("depth", "channel", "inside"):
        branch[name] = random.integers(0, 9, COUNT)
    signature = "int pop_branch(in Branch level, inout Path route, out Media media, inout Tree tree, out Ray ray)"
    kernel = Kernel(device, signature, ["ray"], RECORDS, text=SURFACE, features=["CULLED"])
    exits, (after, media, tree_after, ray) = kernel(branch, path, tree)
    assert set(exits) == {"ray"}
    for name in ("origin", "direction"):
        np.testing.assert_array_equal(ray[name], branch[name])
    assert set(ray["t_max"].tolist()) == {float(np.float32(FAR))} and set(ray["any_hit"].tolist()) == {RAY_VIEW}
    np.testing.assert_array_equal(after["throughput"], branch["weight"])
    np.testing.assert_array_equal(after["depth"], branch["depth"])
    np.testing.assert_array_equal(after["number"], path["number"])
    np.testing.assert_array_equal(media["inside"], branch["inside"])
    np.testing.assert_array_equal(tree_after["channel"], branch["channel"])
    assert set(tree_after["pending"].tolist()) == {3} and set(tree_after["light"].tolist()) == {5}


def test_a_tree_begins_with_nothing_that_waits(device: Any) -> None:
    exits, (tree,) = Kernel(device, "int begin_tree(out Tree tree)", ["ray"], RECORDS)()
    assert exits == ["ray"] and tree[0].tolist() == (0, 0, -1)


def test_what_a_branch_meets(device: Any) -> None:
    """Emission, and what surrounds the scene, count times the ray's weight, but of gathering rays and of a depth that
    is not asked for; a surface is met within the depth; it has the ray's cone, and the medium before it."""
    hits = np.zeros(COUNT, [("triangle", int)])
    random = np.random.default_rng(5)
    path, ray, radiance = paths(random), np.zeros(COUNT, RAY.dtype), np.zeros(COUNT, RADIANCE.dtype)
    path["number"] = np.arange(COUNT) % 3 - 1
    path["cone"] = (0.5, 2.0)
    ray["direction"], radiance["rgb"] = random.uniform(-1, 1, (2, COUNT, 3))
    ray["origin"] = (4.0, 0.0, 0.0)

    hit, media = np.zeros(COUNT, HIT.dtype), np.zeros(COUNT, MEDIA.dtype)
    hits["triangle"] = np.arange(COUNT) // 8 - 1  # the first eight miss
    hit["triangle"], hit["t"], media["inside"] = hits["triangle"], 3.0, 5
    text = """
    Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf) {
        Interaction at;
        at.position = ray.origin + vec3(hit.t, width, 0.0);
        at.wo = -ray.direction;
        at.normal = at.shading = vec3(0.0);
        at.error = at.second = at.third = 0.0;
        at.first = 1.0;
        emission = vec3(float(hit.triangle), 2.0, 3.0);
        light_pdf = 0.0;
        return at;
    }
    Interaction interaction_nowhere(vec3 wo) {
        return Interaction(vec3(-7.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 0.0, wo, 0.0);
    }
    float cone_width(vec2 cone, vec3 origin, float t) { return cone.y * (origin.x + cone.x * t); }
    void media_surround(Media media, inout Interaction at) { at.second = float(media.inside); }
    vec3 environment_radiance(vec3 direction) { return direction * direction; }
    bool path_counts(int surfaces) { return surfaces != 1; }
    """
    arguments = "in Ray ray, in Hit hit, in Path route, in Media media, inout Radiance rgb, out Interaction at"
    signature = f"int arrive_branch({arguments})"
    settings = {"path_depth": ("int", 3)}
    kernel = Kernel(
        device,
        signature,
        ["surface", "end"],
        [*RECORDS, HIT],
        settings,
        text=text,
        includes=["interface/interaction.glsl"],
    )
    exits, (after, at) = kernel(ray, hit, path, media, radiance)
    missed = hit["triangle"] < 0
    assert exits == np.where(missed | (path["depth"] >= 3), "end", "surface").tolist()
    emission = np.stack([hit["triangle"], np.full(COUNT, 2), np.full(COUNT, 3)], axis=1).astype(float)
    emission[missed] = ray["direction"][missed] ** 2
    counts = (path["number"] >= 0) & (path["depth"] != 1)
    expected = radiance["rgb"] + path["throughput"] * emission * counts[:, None]
    np.testing.assert_allclose(after["rgb"], expected, rtol=1e-5, atol=1e-6)  # of sums of both signs
    assert at["position"][~missed].tolist() == [[7.0, 2.0 * (4.0 + 0.5 * 3.0), 0.0]] * (~missed).sum()
    np.testing.assert_array_equal(at["wo"], -ray["direction"])
    np.testing.assert_array_equal(at["second"], np.where(missed, 0.0, 5.0))
    np.testing.assert_array_equal(at["first"], np.where(missed, 0.0, 1.0))
