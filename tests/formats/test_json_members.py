"""Members of JSON: their types, what is missing or wrong, and which elements have one, without an object for each."""

from __future__ import annotations

from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.formats.gltf.json import JsonObject, JsonObjects


def nodes(*elements: Any) -> JsonObjects:
    return JsonObjects(list(elements), "a.gltf: nodes")


def test_places_of_elements_with_a_member() -> None:
    """Places in the list of numbers, not the numbers; null counts as missing, 0 and false do not."""
    some = nodes({"mesh": 0}, {}, {"mesh": None}, {"mesh": False}, {"camera": 1, "mesh": 7})
    assert some.positions_with("mesh", range(5)) == [0, 3, 4]
    assert some.positions_with("mesh", [4, 1, 0, 2]) == [0, 2]
    assert some.positions_with("mesh", []) == [] == some.positions_with("skin", range(5))


def test_places_of_elements_with_an_extension() -> None:
    some = nodes({"extensions": {"A": {}}}, {"extensions": {"A": None, "B": {}}}, {"extensions": None}, {}, {"A": {}})
    assert some.positions_with_extension("A", range(5)) == [0] and some.positions_with_extension("B", [3, 1, 1]) == [
        1,
        2,
    ]


@pytest.mark.parametrize("odd", [None, 3, "extensions", ["mesh"]])
def test_elements_that_are_no_objects_are_asked_for_whose_access_raises(odd: Any) -> None:
    some = nodes({}, odd, {"mesh": 1})
    assert some.positions_with("mesh", range(3)) == [1, 2] and some.positions_with_extension("A", range(3)) == [1]
    with pytest.raises(ViewerError, match=r"nodes\[1\]: expected an object"):
        some[1]


@pytest.mark.parametrize("odd", [3, "AB", ["A"], {"A": 3}])
def test_extensions_that_are_no_objects_are_asked_for_which_raises(odd: Any) -> None:
    some = nodes({"extensions": odd})
    assert some.positions_with_extension("A", [0]) == [0]
    with pytest.raises(ViewerError, match=r"nodes\[0\]\.extensions(\.A)?: expected an object"):
        some[0].extension("A")


@pytest.mark.parametrize(("value", "outcome"), [(0, 0), (2, 2), (1.0, 1), (True, None), (3, None), (-1, None)])
def test_indices_by_the_short_way_and_the_long_one(value: Any, outcome: int | None) -> None:
    item = JsonObject({"light": value, "nodes": [0, value]}, "a.gltf")
    if outcome is not None:
        index = item.index("light", 3, "light")
        assert index == outcome and type(index) is int and item.indices("nodes", 3, "node") == [0, outcome]
        return
    with pytest.raises(ViewerError, match="light"):
        item.index("light", 3, "light")
    with pytest.raises(ViewerError, match=r"nodes\[1\]"):
        item.indices("nodes", 3, "node")
