"""KHR_lights_punctual: kinds, units, places, names, and malformed ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from documents import Document

import raystream
from raystream.base.errors import ViewerError
from raystream.formats.gltf.json import JsonObject, Omissions
from raystream.formats.gltf.lights import EXTENSION, read_lights
from raystream.formats.gltf.nodes import scene_nodes
from raystream.scene.light import Light


def document(lights: list[dict], nodes: list[dict]) -> JsonObject:
    data = {
        "extensions": {EXTENSION: {"lights": lights}},
        "scenes": [{"nodes": [k for k in range(len(nodes)) if not any(k in n.get("children", ()) for n in nodes)]}],
        "nodes": nodes,
    }
    return JsonObject(data, "a.gltf")


NONE = Omissions(False)


def on(light: int, **node) -> dict:
    return {"extensions": {EXTENSION: {"light": light}}, **node}


def read(lights: list[dict], nodes: list[dict]):
    warnings: list[str] = []
    found = document(lights, nodes)
    return read_lights(found, scene_nodes(found, warnings, NONE), warnings, NONE), warnings


def test_each_kind_with_its_units() -> None:
    lights = [
        {"type": "point", "name": "bulb", "color": [1, 0.5, 0.25], "intensity": 40},
        {"type": "spot", "intensity": 2, "spot": {"innerConeAngle": 0.2, "outerConeAngle": 0.6}},
        {"type": "directional"},
    ]
    (point, spot, sun), warnings = read(lights, [on(0, translation=[1, 2, 3]), on(1, name="beam"), on(2)])
    assert not warnings
    assert (point.kind, point.name, point.position, point.intensity) == ("point", "bulb", (1, 2, 3), (40, 20, 10))
    assert (spot.kind, spot.name, spot.inner, spot.outer) == ("spot", "beam", 0.2, 0.6)
    assert spot.direction == (0, 0, -1) and sun.kind == "directional" and sun.intensity == (1, 1, 1)
    (default,), _ = read([{"type": "spot"}], [on(0)])
    assert (default.inner, default.outer) == (0, math.pi / 4)


def test_lights_follow_their_nodes_but_for_scale() -> None:
    half = math.sqrt(0.5)
    nodes = [
        {"translation": [0, 10, 0], "rotation": [-half, 0, 0, half], "scale": [3, 3, 3], "children": [1]},
        on(0, translation=[0, 0, -1]),
    ]
    (light,), _ = read([{"type": "spot", "intensity": 5}], nodes)
    np.testing.assert_allclose(light.position, (0, 7, 0), atol=1e-12)
    np.testing.assert_allclose(light.direction, (0, -1, 0), atol=1e-12)
    assert light.intensity == (5, 5, 5)


def test_lights_of_a_file_are_those_that_its_numbers_make() -> None:
    """To the bit, though not each is checked; those that cannot be are left out, and the rest keep their nodes."""
    random = np.random.default_rng(5)
    nodes: list[dict] = [
        {"matrix": [*np.append(m, np.zeros((1, 3)), axis=0).T.ravel().tolist(), *p, 1]}
        for m, p in zip(
            random.standard_normal((40, 3, 3)) * 10.0 ** random.integers(-9, 9, (40, 1, 1)),
            (random.standard_normal((40, 3)) * 1e3).tolist(),
            strict=True,
        )
    ]
    nodes[7]["matrix"][8:11] = [0, 0, 0]  # without a direction
    nodes[11]["matrix"][13] = -2e18  # too far
    nodes[13]["matrix"][12] = 1e18  # as far as it may be
    nodes = [on(k % 2, **node) if k % 3 else node for k, node in enumerate(nodes)]
    tree, held = document([{"type": "spot", "color": [0.5, 0.25, 1], "intensity": 3}, {"type": "point"}], nodes), []
    warnings: list[str] = []
    found = read_lights(tree, scene_nodes(tree, [], NONE), warnings, NONE, held)
    assert held == [k for k in range(40) if k % 3 and k not in (7, 11)] and len(warnings) == 2
    assert "direction is zero" in warnings[0] and "is not three finite numbers up to 1e+18" in warnings[1]
    for place, light in zip(held, found, strict=True):
        matrix = np.array(nodes[place]["matrix"], np.float64)
        made = Light(
            light.kind, light.name, tuple(matrix[12:15].tolist()), tuple((-matrix[8:11]).tolist()), light.intensity
        )
        assert light == made and repr(light) == repr(made)


def test_neighbours_that_are_turned_alike_and_otherwise() -> None:
    """A run of equal directions has one tuple: each light still has its node's."""
    half = math.sqrt(0.5)
    turns = {"": (0.0, 0.0, -1.0), "down": (0.0, -1.0, 0.0), "right": (1.0, 0.0, 0.0)}
    rotations = {"down": [-half, 0, 0, half], "right": [0, -half, 0, half]}
    order = ["", "", "down", "down", "", "right", "down", "right", "right"]
    nodes = [on(k % 2, **({"rotation": rotations[turn]} if turn else {})) for k, turn in enumerate(order)]
    lights, _ = read([{"type": "spot"}, {"type": "directional"}], nodes)
    # To roundings of a quaternion's products.
    np.testing.assert_allclose([light.direction for light in lights], [turns[turn] for turn in order], atol=1e-15)
    assert lights[0].direction is lights[1].direction and read([{"type": "spot"}], [{}])[0] == []


def test_one_light_on_many_nodes_has_many_names() -> None:
    nodes = [on(0), *[on(0, name="a") for _ in range(3)], on(0, name="a 2"), on(0), on(0)]
    found, _ = read([{"type": "point", "name": "bulb"}], nodes)
    assert [light.name for light in found] == ["bulb", "a", "a 2", "a 3", "a 2 2", "bulb 2", "bulb 3"]
    tree, held = document([{"type": "point"}], [{}, on(0), {}, on(0)]), []
    read_lights(tree, scene_nodes(tree, [], NONE), [], NONE, held)
    assert held == [1, 3]


def test_what_is_clamped_left_out_or_not_applied() -> None:
    lights = [
        {"type": "point", "name": "hot", "color": [2, 1, 1]},
        {"type": "point", "name": "negative", "intensity": -1},
        {"type": "spot", "name": "wide", "spot": {"outerConeAngle": 3}},
        {"type": "spot", "name": "hard", "spot": {"innerConeAngle": 0.5, "outerConeAngle": 0.5}},
        {"type": "area", "name": "panel"},
        {"type": "point", "name": "short", "range": 3},
        {"type": "directional", "name": "flat"},
    ]
    nodes = [*[on(k) for k in range(6)], on(6, scale=[1, 1, 0])]
    found, warnings = read(lights, nodes)
    assert [light.name for light in found] == ["hot", "negative", "wide", "hard", "short"]
    assert found[0].intensity == (1, 1, 1) and found[1].intensity == (0, 0, 0)
    assert found[3].inner == pytest.approx(0.5, abs=2e-4) and found[3].inner < found[3].outer == 0.5
    assert warnings == [
        "light 'panel' is 'area', an unknown kind; left out",
        "light 'flat' left out: direction is zero",
        "values out of range were clamped in 3 lights: hot, negative, wide",
        "the range of 1 lights is not applied: light does not end",
    ]


@pytest.mark.parametrize(
    ("lights", "nodes", "words"),
    [
        ([{"type": "point"}], [on(1)], "names light 1 of 1"),
        ([{"type": "point"}], [{"extensions": {EXTENSION: {}}}], "light"),
        ([{}], [on(0)], "type: is missing"),
        ([{"type": "point", "color": [1, 1]}], [on(0)], "color: expected 3 numbers"),
        ([{"type": "point", "intensity": "bright"}], [on(0)], "intensity: expected a number"),
        ([{"type": "spot", "spot": 3}], [on(0)], "spot: expected an object"),
        ([7], [on(0)], r"lights\[0\]: expected an object"),
    ],
)
def test_malformed_lights(lights, nodes, words) -> None:
    with pytest.raises(ViewerError, match=words):
        read(lights, nodes)


def test_in_a_file(tmp_path) -> None:
    made = Document()
    made.square()
    made.json["extensions"] = {EXTENSION: {"lights": [{"type": "point", "intensity": 3}]}}
    made.json["extensionsUsed"] = made.json["extensionsRequired"] = [EXTENSION]
    made.json["nodes"].append(on(0, name="lamp", translation=[0, 1, 0]))
    made.json["scenes"][0]["nodes"] = [0, 1]
    scene = raystream.load(made.write(tmp_path))
    assert [light.name for light in scene.lights] == ["lamp"] and EXTENSION not in scene.extensions_ignored
