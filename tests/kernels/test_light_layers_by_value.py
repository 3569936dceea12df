"""Steps that keep a path's light apart, count what is hidden, and mirror the floor, kernel by kernel."""

from __future__ import annotations

from typing import Any

import glsl_call
import numpy as np
import pytest
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray

from raystream.kernels.light_layers import LIGHT_LAYERS, LIGHT_SHARE, LIGHT_SPLIT, LIGHT_SUMS, VISIBILITY
from raystream.kernels.records import FILM, HIT, PATH, PIXEL, RADIANCE, RAY
from raystream.stream.declare.record import Field, Record

COUNT = 60
RECORDS = [INTERACTION, MEDIA, PIXEL, PATH, RAY, HIT, FILM, RADIANCE, LIGHT_SHARE, LIGHT_SPLIT, LIGHT_SUMS, VISIBILITY]
SETTINGS: dict[str, tuple[str, Any]] = {
    "path_samples": ("int", 5),
    "path_clamp": ("float", 0.0),
    "floor_height": ("float", -1.0),
    "floor_reach": ("float", 2.0),
}
# A function gives at most eight texels: of a split its layers, and its whole beside what is left.
LAYERS = Record("Layers", *(Field(name, "vec3") for name in LIGHT_LAYERS))
REST = Record("Rest", Field("whole", "vec3"), Field("left", "vec3"))


def numbers(shape: tuple[int, ...], seed: int) -> NDArray:
    return np.random.default_rng(seed).uniform(0.125, 1.0, shape).astype(np.float32)


def split_of(seed: int) -> NDArray:
    split = np.zeros(COUNT, LIGHT_SPLIT.dtype)
    for k, name in enumerate((*LIGHT_LAYERS, "whole")):
        split[name] = numbers((COUNT, 3), 100 * seed + k)
    return split


def layers_and_rest(device: Any, kernel: str, *arrays: NDArray) -> tuple[NDArray, NDArray]:
    """What a kernel over ``path, share, portion, split`` makes of the split, and what it leaves of the portion."""
    results = []
    layers = ", ".join(f"split.{name}" for name in LIGHT_LAYERS)
    for record, value in ((LAYERS, f"Layers({layers})"), (REST, "Rest(split.whole, portion.rgb)")):
        told = f"{record.name} told(Path route, LightShare share, Radiance portion, LightSplit split)"
        body = f"{told} {{ {kernel}(route, share, portion, split); return {value}; }}"
        module = Kernel.settings(["done"], SETTINGS)
        function = glsl_call.Function(
            device, told, [f"kernels/{kernel}.glsl"], [module], [*RECORDS, LAYERS, REST], body
        )
        results.append(function(*arrays)[0])
    return results[0], results[1]


@pytest.mark.parametrize(("kernel", "more"), [("sort_arrival", 0), ("sort_light", 1)])
def test_light_is_sorted_by_surfaces_and_by_the_first_one_s_share(device: Any, kernel: str, more: int) -> None:
    """None is left behind; a path's first arrival begins the split anew."""
    path, share, portion = (np.zeros(COUNT, each.dtype) for each in (PATH, LIGHT_SHARE, RADIANCE))
    path["depth"] = np.arange(COUNT) % 4
    share["diffuse"], share["transmitted"] = numbers((COUNT, 3), 1), np.arange(COUNT) % 5 % 2
    portion["rgb"], split = numbers((COUNT, 3), 2), split_of(3)
    layers, rest = layers_and_rest(device, kernel, path, share, portion, split)
    expected = split.copy()
    if kernel == "sort_arrival":
        expected[path["depth"] == 0] = 0
    surfaces = path["depth"] + more
    through = portion["rgb"] * share["transmitted"][:, None]
    matte = (portion["rgb"] - through) * share["diffuse"]
    glossy = portion["rgb"] - through - matte
    expected["whole"] += portion["rgb"]
    expected["emission"] += portion["rgb"] * (surfaces == 0)[:, None]
    for way, chosen in (("direct", surfaces == 1), ("indirect", surfaces > 1)):
        for lobe, light in (("diffuse", matte), ("glossy", glossy), ("transmission", through)):
            expected[f"{way}_{lobe}"] += light * chosen[:, None]
    for name in LIGHT_LAYERS:
        np.testing.assert_allclose(layers[name], expected[name], rtol=1e-6, atol=1e-7, err_msg=name)
    np.testing.assert_allclose(rest["whole"], expected["whole"], rtol=1e-6)
    assert not rest["left"].any()


@pytest.mark.parametrize("clamp", [0.0, 0.5])
def test_a_finished_sample_joins_the_sums_of_its_layers(device: Any, clamp: float) -> None:
    """Scaled as a whole where it is clamped, dropped as a whole where it is broken; and counts either way."""
    split, film, sums = split_of(4), np.zeros(COUNT, FILM.dtype), np.zeros(COUNT, LIGHT_SUMS.dtype)
    split["whole"][0, 1], split["whole"][1, 0], split["whole"][2, 2] = np.nan, 2.0**100, -np.inf
    for k, name in enumerate(LIGHT_LAYERS):
        sums[name] = numbers((COUNT, 3), 50 + k)
    sums["count"], film["count"] = np.arange(COUNT) % 4, 3
    signature = "int finish_light_layers(in LightSplit split, in Film film, inout LightSums sums)"
    finish = Kernel(device, signature, ["again", "done"], RECORDS, SETTINGS)
    finish.set(path_clamp=clamp)
    exits, (after,) = finish(split, film, sums)
    assert exits == np.where(sums["count"] + 1 < 3, "again", "done").tolist()
    np.testing.assert_array_equal(after["count"], sums["count"] + 1)
    with np.errstate(invalid="ignore"):
        largest = split["whole"].max(axis=1)
        scale = np.where((clamp > 0) & (largest > clamp), clamp / largest, 1.0)
    scale[:3] = 0.0
    for name in LIGHT_LAYERS:
        np.testing.assert_allclose(after[name], sums[name] + split[name] * scale[:, None], rtol=1e-5, err_msg=name)


def test_shares_are_of_the_first_surface_alone(device: Any) -> None:
    at, ray, path, share = (np.zeros(COUNT, each.dtype) for each in (INTERACTION, RAY, PATH, LIGHT_SHARE))
    at["first"], ray["direction"], path["depth"] = 0.5, numbers((COUNT, 3), 5), np.arange(COUNT) % 3
    path["pdf"] = np.arange(COUNT) % 5 - 1
    share["diffuse"], share["transmitted"] = 9.0, 9.0
    text = """LightShare light_share(Interaction at, vec3 wi, bool single) {
        return LightShare(at.first * wi, single ? 1.0 : 0.0);
    }"""
    for name, depth in (("share_light", 0), ("share_scatter", 1)):
        signature = f"int {name}(in Interaction at, in Ray ray, in Path route, inout LightShare share)"
        _, (after,) = Kernel(device, signature, ["done"], RECORDS, text=text)(at, ray, path, share)
        first = path["depth"] == depth
        np.testing.assert_array_equal(after["diffuse"], np.where(first[:, None], 0.5 * ray["direction"], 9.0))
        single = (path["pdf"] <= 0) & (depth == 1)
        np.testing.assert_array_equal(after["transmitted"], np.where(first, single, 9.0))
    _, (floor,) = Kernel(device, "int share_floor(out LightShare share)", ["done"], RECORDS)()
    assert not floor["diffuse"].any() and not floor["transmitted"].any()


def test_visibility_is_counted(device: Any) -> None:
    hit, film, visibility = (np.zeros(6, each.dtype) for each in (HIT, FILM, VISIBILITY))
    hit["triangle"], visibility["near"] = (-1, 0, 4, -1, 2, -1), 0.5
    signature = "int weigh_occlusion(in Hit hit, inout Visibility counts)"
    _, (after,) = Kernel(device, signature, ["done"], RECORDS)(hit, visibility)
    assert after["near"].tolist() == [0.5, 1.5, 1.5, 0.5, 1.5, 0.5]
    visibility["count"], film["count"] = np.arange(6), 4
    signature = "int finish_visibility(in Film film, inout Visibility counts)"
    exits, (after,) = Kernel(device, signature, ["again", "done"], RECORDS)(film, visibility)
    assert exits == ["again"] * 3 + ["done"] * 3 and after["count"].tolist() == [1, 2, 3, 4, 5, 6]


def test_what_the_floor_mirrors(device: Any) -> None:
    """By Schlick's approximation, up to 0.3; fainter with the height, nothing at the reach; of a miss nothing."""
    ray, hit, path, radiance = (np.zeros(COUNT, each.dtype) for each in (RAY, HIT, PATH, RADIANCE))
    hit["triangle"], hit["t"] = np.arange(COUNT) % 4 - 1, 3.0 * numbers((COUNT,), 6)
    ray["direction"][:, 1], radiance["rgb"] = numbers((COUNT,), 7), numbers((COUNT, 3), 8)
    path["throughput"], path["depth"] = numbers((COUNT,), 9)[:, None] ** 2, 5
    signature = "int meet_mirrored(in Ray ray, in Hit hit, inout Path route, inout Radiance light)"
    kernel = Kernel(device, signature, ["surface", "end"], RECORDS, SETTINGS, includes=["shading/shadow_floor.glsl"])
    exits, (after, light) = kernel(ray, hit, path, radiance)
    met = hit["triangle"] >= 0
    assert exits == np.where(met, "surface", "end").tolist()
    facing, height = path["throughput"][:, 0].astype(float), (hit["t"] * ray["direction"][:, 1]).astype(float)
    share = np.minimum(0.06 + 0.94 * (1 - facing) ** 5, 0.3) * np.clip(1 - height / 2, 0, 1) ** 2
    np.testing.assert_allclose(after["throughput"][met, 1], share[met], rtol=1e-4, atol=1e-6)  # of powers of 5
    assert set(after["depth"][met].tolist()) == {1} and (share[met] == 0).any() and (share > 0.2).any()
    np.testing.assert_allclose(light["rgb"][met], (radiance["rgb"] * (1 - share[:, None]))[met], rtol=1e-5)
    np.testing.assert_array_equal(light["rgb"][~met], radiance["rgb"][~met])


def test_where_a_ray_meets_the_floor(device: Any) -> None:
    """From above, downwards."""
    ray = np.zeros(5, RAY.dtype)
    ray["origin"][:, 1] = (1.0, 1.0, -1.0, -3.0, 1.0)
    ray["direction"][:, 1] = (-0.5, 0.5, -0.5, -0.5, 0.0)
    module = Kernel.settings([], SETTINGS)
    meets = glsl_call.Function(
        device, "bool floor_meets(Ray ray, out float distance)", ["shading/shadow_floor.glsl"], [module], [RAY]
    )
    met, distance = meets(ray)
    assert met.tolist() == [True, False, False, False, False] and distance[0] == 4.0
