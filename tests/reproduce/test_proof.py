"""No check of the report is true by construction: of each a change of its inputs is listed, and turns it over."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import proof, run
from reproduction.context import Context
from reproduction.proof import Break, changed, leaves, made_with, turned
from reproduction.report import ARITHMETIC, CLAIM, OWN, Check, Part, Registered, Table, near
from reproduction.stored import MADE, Measurements

COMMITTED = Path(__file__).parents[2] / "tools" / "results" / "reproduction"
LISTED: dict[str, list[proof.Proof]] = {}
for _section, _proof in proof.read(COMMITTED / proof.FILE):
    LISTED.setdefault(_section, []).append(_proof)


@pytest.fixture(scope="module")
def stored() -> Measurements:
    return Measurements.read(COMMITTED)


@pytest.mark.parametrize("registered", run.chosen(), ids=lambda each: each.identifier)
def test_every_check_has_been_seen_to_say_the_opposite(registered: Registered, stored: Measurements) -> None:
    """After a change of sections or measurements the list is made again by ``--prove``."""
    before = made_with(registered, stored)
    decided = [place for place, each in enumerate(before) if each.agrees is not None]
    listed = LISTED.get(registered.identifier, [])
    assert [(before[place].kind, before[place].name) for place in decided] == [
        (each.kind, each.name) for each in listed
    ]
    for place, each in zip(decided, listed, strict=True):
        assert place in turned(before, made_with(registered, stored, each.made)), each


def toy(context: Context) -> Iterator[Part]:
    found = context.keep(("unit", 1), lambda: None)
    value, runs = found["value"], found["runs"]
    yield Check(CLAIM, "three", 3, value, abs(value - 3) < 0.5, "to a half")
    yield Check(OWN, "flag", True, found["flag"], found["flag"], "none")
    yield Check(CLAIM, "runs are long", "> 5", str(runs), min(runs) > 5, "each of them")
    yield Check(CLAIM, "three is three", value, value, value == float(str(value)), "by construction")
    yield Check(ARITHMETIC, "of nothing printed", 3, value, abs(value - 3) < 0.5, "to a half")
    if value < 3.2:
        yield Table("t", ("row", "a"), [("x", near(3, value, 0.1, "alike"))])


TOY = Registered("toy", "A toy", "D 1", True, 0, toy)


def toy_stored() -> Measurements:
    made = Measurements({"quick": False})
    value = {"value": 3.0, "flag": True, "runs": [1.0, 2.0]}
    made.put("toy", ("unit", 1), value, {**dict.fromkeys(MADE), "date": "2026-11-27"})
    return made


def test_what_is_true_by_construction_is_found() -> None:
    found, left = proof.search(TOY, toy_stored())
    # The papers' arithmetic is not turned over by what is measured.
    assert [each.name for each in left] == ["three is three", "of nothing printed"]
    said = {each.name: (each.made.place[3:], each.made.change, each.old, each.new, each.then) for each in found}
    # Where the cell is gone, as by x 1.25, nothing is proved.
    # A cell that goes with the value is not turned over by it: x 0.8 and less leave it there.
    assert said == {
        "three": (("value",), "x 0.8", "3", "2.4", "differs: 3 / 2.4"),
        "flag": (("flag",), "not", "yes", "no", "differs: yes / no"),
        "runs are long": (("runs", "*"), "x 10", "1", "10", "agrees: > 5 / [10.0, 20.0]"),
        "t: x, a": (("value",), "x 0.8", "3", "2.4", "differs: 3 / 2.4"),
    }


@dataclasses.dataclass(frozen=True)
class Row:
    words: tuple[int, ...]
    text: str


def test_a_change_is_of_its_place_alone() -> None:
    value = {"a": [Row((1, 2), "4.5 ms"), Row((3, 4), "none")], "b": np.arange(3)}
    assert changed(value, ("a", "*", "words", "1"), "x 2") == {
        **value,
        "a": [Row((1, 4), "4.5 ms"), Row((3, 8), "none")],
    }
    assert changed(value, ("a", "0", "text"), "+ 1")["a"][0].text == "5.5 ms"
    assert changed(value, ("a", "1", "text"), "x 2") is value
    assert changed(value, ("b",), "turn")["b"].tolist() == [1, 2, 0]
    assert [path for path, _ in leaves(value)][:3] == [(), ("a",), ("a", "0", "words")]


def test_the_list_is_read_as_it_is_written(tmp_path: Path) -> None:
    made = Break("measured", ("unit", "1", "=", "a < b & c"), "x 0.5")
    listed = {"table_3": [proof.Proof(CLAIM, "a <b> & c", made, "1", "0.5", "differs: < 1 / 2")]}
    proof.write(tmp_path / proof.FILE, listed)
    assert list(proof.read(tmp_path / proof.FILE)) == [("table_3", listed["table_3"][0])]
