"""How the report times, and how it measures some of itself again. What a clock says is not looked at here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import run, timed
from reproduction.context import Context
from reproduction.report import Absent, Registered, Text
from reproduction.stored import FILE, Measurements
from reproduction.timed import Quiet, Spread


@pytest.fixture
def context(device: Any, tmp_path: Path) -> Context:
    made = Context(tmp_path / "report")
    made.__dict__["device"] = device
    return made


class Held:
    """Notes when it is released."""

    def __init__(self, notes: list[str], name: str) -> None:
        self.notes, self.name = notes, name

    def release(self) -> None:
        self.notes.append(self.name)


def test_what_is_held_is_released_after_an_error() -> None:
    notes: list[str] = []

    @contextmanager
    def cases() -> Iterator[list[str]]:
        with timed.Releasing() as held:
            yield [held.own(Held(notes, name)).name for name in ("one", "two")]

    with cases() as names:
        assert names == ["one", "two"] and not notes
    assert notes == ["two", "one"]
    with pytest.raises(ZeroDivisionError), cases():
        raise ZeroDivisionError
    assert notes == 2 * ["two", "one"]


def test_cases_run_in_turns_behind_a_round_that_does_not_count() -> None:
    calls: list[str] = []
    figures = iter(range(100))

    def case(name: str) -> dict[str, float]:
        calls.append(name)
        return {"figure": next(figures)}

    found = timed.measured({name: lambda name=name: case(name) for name in "ab"}, 3, start=0.5)
    assert "".join(calls) == "ab" * 4
    assert found["cases"]["a"]["parts"] == {"figure": [2, 4, 6]} and found["cases"]["b"]["parts"]["figure"][0] == 3
    assert all(len(found["cases"][name][clock]) == 3 for name in "ab" for clock in ("wall", "cpu"))
    assert found["start"] == 0.5 and len(found["load"]) == 2
    timed.measured({"a": lambda: calls.append("once")}, 1, warm_up=False)
    assert calls[-2:] == ["b", "once"]


def test_other_processes_are_what_the_cpus_did_beside_this_one(monkeypatch: Any) -> None:
    busy = iter([10.0, 14.0])
    monkeypatch.setattr(timed, "_busy", lambda: next(busy))
    clocks = {"perf_counter": iter([0.0, 0.0, 0.0, 4.0]), "process_time": iter([1.0, 1.0, 2.0, 3.0])}
    for name, values in clocks.items():
        monkeypatch.setattr(timed.time, name, lambda values=values: next(values))
    monkeypatch.setattr(timed.os, "cpu_count", lambda: 2)
    found = timed.measured({"a": lambda: None}, 1, warm_up=False)
    assert found["others"] == 0.25  # four seconds of CPUs less two of our own, of four seconds of two


def test_the_same_work_takes_the_same_time() -> None:
    one = Spread((1.0, 1.1, 0.9))
    assert timed.alike("x", one, Spread((1.1, 1.14, 3.0))).passed is True
    assert timed.alike("x", one, Spread((2.0, 2.8, 1.1))).passed is False
    assert timed.alike("x", Spread((2.8,)), Spread((1.0,))).passed is None


def test_a_machine_that_was_not_quiet_is_told() -> None:
    calm, busy = Quiet(5, 0.3, (1.0, 1.9), 0.02, (0.96, 1.84)), Quiet(3, 1.6, (1.0, 1.2), 0.4, (0.5, 1.0))
    text = timed.said([calm])
    assert "5 runs" in text and "0.3 at the start" in text and "other processes 2%" in text and "not quiet" not in text
    assert "the runs had 1.0 to 1.8 CPUs" in text
    text = timed.said([calm, busy])
    assert "3 to 5 runs" in text and "The machine was not quiet" in text and "40%" in text
    assert "the runs had 0.5 to 1.8 CPUs" in text
    assert timed.said([]) == "" and timed.said([Quiet(1, 0.0, (0.0, 0.0), None, (1.0, 1.0))]).startswith("one run")


def test_cpus_that_the_runs_had_are_those_of_all_cases(context: Context, monkeypatch: Any) -> None:
    cases = {name: {"wall": [2.0], "cpu": [cpu], "parts": {}} for name, cpu in (("b", 2.0), ("a", 1.0), ("c", 3.8))}
    found = {"cases": cases, "start": 0.1, "load": [0.1, 0.2], "others": None}
    monkeypatch.setattr(timed, "measured", lambda *_: found)
    context.enter("toy", Toy().make)
    timed.keep(context, ("cpus",), Toy().cases)
    assert context.quiet[-1].own == (0.5, 1.9)


class Toy:
    """A section with a unit of a clock and one of none, and how often each was made."""

    def __init__(self) -> None:
        self.timings = self.counts = 0
        self.stop = False

    @contextmanager
    def cases(self) -> Iterator[dict[str, timed.Case]]:
        self.timings += 1
        yield {"b": lambda: {"number": self.timings}, "a": lambda: None}

    def count(self) -> int:
        self.counts += 1
        return self.counts

    def make(self, context: Context) -> Any:
        found = timed.keep(context, ("toy",), self.cases)
        assert len(found["a"].wall.values) == (1 if context.quick else timed.RUNS)
        yield Text(f"timed {found['b'].parts['number'].median:g}")
        if self.stop:
            raise KeyboardInterrupt
        yield Text(f"counted {context.keep('count', self.count)}")


def registered(make: Any, name: str = "toy", is_timed: bool = True) -> Registered:
    return Registered(name, "A toy", "D 5.2.1", True, 0, make, is_timed)


def texts(context: Context, toy: Toy) -> list[str]:
    return [part.text for part in run.make(context, registered(toy.make)).parts]


@pytest.mark.parametrize("alone", [True, False])
def test_an_update_measures_again(context: Context, tmp_path: Path, alone: bool) -> None:
    toy = Toy()
    run.make(context, registered(toy.make))
    context.measured.put("toy", "stale", 1, {"date": ""})
    context.measured.put("other", "unit", 5, {"date": ""})
    context.measured.write(tmp_path)

    def update(stop: bool) -> Measurements:
        toy.stop = stop
        found = Measurements.read(tmp_path)
        again = Context(tmp_path, before=found if alone else None, kept="updating")
        again.__dict__["device"] = context.device
        run.update(again, [registered(toy.make)], found, lambda share, text: None)
        return Measurements.read(tmp_path)

    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(KeyboardInterrupt):
        update(stop=True)
    assert (tmp_path / FILE).read_bytes() == before and toy.timings == 2
    found = update(stop=False)
    assert toy.timings == 2  # it went on from there
    assert toy.counts == (1 if alone else 2)
    assert texts(Context(tmp_path, stored=found), toy) == ["timed 2", f"counted {toy.counts}"]
    units = json.loads((tmp_path / FILE).read_text())["units"]
    assert len(units["toy"]) == 2 and len(units["other"]) == 1  # without the stale one
    assert not (tmp_path / "updating").exists()
    update(stop=False)
    assert toy.timings == 3


def test_units_stay_where_something_is_absent(context: Context, tmp_path: Path) -> None:
    toy = Toy()
    run.make(context, registered(toy.make))
    found = context.measured

    def absent(context: Context) -> Any:
        yield Absent("bunny.ply", "not here")

    again = Context(tmp_path, kept="updating")
    run.update(again, [registered(absent)], found, lambda share, text: None)
    assert len(json.loads((tmp_path / FILE).read_text())["units"]["toy"]) == 2
