"""Members of JSON: their types, what is missing or wrong, and which elements have one, without an object for each."""

from __future__ import annotations

from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.formats.gltf.json import JsonObject, JsonObjects, parse


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


SOME = {
    "i": 3,
    "f": 3.0,
    "h": 3.5,
    "b": True,
    "t": "x",
    "n": None,
    "l": [1, 2.5],
    "o": {"p": 1},
    "big": 2**53,
    "m": [{}, 5],
}


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (lambda o: o.integer("i"), 3),
        (lambda o: o.integer("f"), 3),
        (lambda o: o.integer("none", 7), 7),
        (lambda o: o.integer("i", low=3, high=3), 3),
        (lambda o: o.integer("big"), 2**53),
        (lambda o: o.index("i", 4, "thing"), 3),
        (lambda o: o.index("none", 4, "thing", None), None),
        (lambda o: o.index("none", 4, "thing", -1), -1),
        (lambda o: o.number("i"), 3.0),
        (lambda o: o.number("h"), 3.5),
        (lambda o: o.number("none", 1.5), 1.5),
        (lambda o: o.numbers("l", 2), (1.0, 2.5)),
        (lambda o: o.numbers("none", 2, "default"), "default"),
        (lambda o: o.text("t"), "x"),
        (lambda o: o.flag("b"), True),
        (lambda o: o.child("o").data, {"p": 1}),
        (lambda o: o.child("none").data, {}),
        (lambda o: o.array("l"), [1, 2.5]),
        (lambda o: o.array("none"), []),
        (lambda o: len(o.objects("m")), 2),
        (lambda o: o.objects("m")[0].where, "a.gltf: it.m[0]"),
        (lambda o: o.extension("x"), None),
        (lambda o: "i" in o and "none" not in o, True),
        (lambda o: o.path("i"), "a.gltf: it.i"),
        (lambda o: parse(b"{}", "a.gltf").path("i"), "a.gltf: i"),
        (lambda o: parse(b'\xef\xbb\xbf{"extensions": {"x": {"y": 1}}}', "a").extension("x").data, {"y": 1}),
    ],
)
def test_members_of_json(call: Any, result: Any) -> None:
    assert call(JsonObject(SOME, "a.gltf: it")) == result


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda o: o.integer("h"), "h: expected an integer, got 3.5"),
        (lambda o: o.integer("b"), "b: expected an integer, got True"),
        (lambda o: o.integer("none"), "none: is missing; expected an integer"),
        (lambda o: o.integer("i", low=4), "i: 3 is not in 4 .."),
        (lambda o: o.integer("i", high=2), "i: 3 is not in 0 .. 2"),
        (lambda o: o.index("i", 3, "thing"), "i: names thing 3 of 3"),
        (lambda o: o.number("b"), "b: expected a number, got True"),
        (lambda o: o.number("n"), "n: is missing; expected a number"),
        (lambda o: o.numbers("l", 3), r"l: expected 3 numbers, got \[1, 2.5\]"),
        (lambda o: o.numbers("i", 1), "i: expected 1 numbers, got 3"),
        (lambda o: o.text("i"), "i: expected a string, got 3"),
        (lambda o: o.flag("i"), "i: expected true or false, got 3"),
        (lambda o: o.child("l"), "l: expected an object"),
        (lambda o: o.array("o"), "o: expected an array"),
        (lambda o: list(o.objects("m")), r"m\[1\]: expected an object, got 5"),
        (lambda o: o.indices("l", 2, "thing"), r"l\[1\]: expected an integer, got 2.5"),
        (lambda o: o.indices("l", 1, "thing"), r"l\[0\]: names thing 1 of 1"),
        (lambda o: o.texts("l"), r"l\[0\]: expected a string, got 1"),
        (lambda o: JsonObjects([3], "a: l")[0], r"a: l\[0\]: expected an object, got 3"),
    ],
)
def test_members_that_are_wrong(call: Any, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        call(JsonObject(SOME, "a.gltf: it"))
