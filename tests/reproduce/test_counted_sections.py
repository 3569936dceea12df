"""The sections on counts and limits: every statement that can pass or fail passes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from reproduction import run
from reproduction.context import Context
from reproduction.published.chapter5 import (
    COST_DERIVED,
    PIXELS,
    TABLE_5_1,
    TABLE_5_2,
    TABLE_5_3,
    TABLE_5_4,
    VIEWS,
)
from reproduction.report import OWN, Absent, Cell, Section, Table

from raystream.stream.analysis import spirv
from raystream.stream.analysis.instructions import _count_cached

needs_compiler = pytest.mark.skipif(shutil.which(spirv.VALIDATOR) is None, reason=f"{spirv.VALIDATOR} is not installed")


def made(name: str, folder: Path) -> Section:
    """A section, and that none of its tests of ourselves has failed."""
    (registered,) = run.chosen([name])
    section = run.make(Context(folder, quick=True), registered)
    failed = [check for check in section.checks() if check.passed is False and check.kind == OWN]
    assert not failed
    return section


@needs_compiler
@pytest.mark.parametrize(("name", "passed"), [("table_5_1", 7), ("table_5_3", 5), ("table_6_2", 11)])
def test_statements_on_counts_pass(device, name: str, passed: int, tmp_path: Path) -> None:
    section = made(name, tmp_path)
    assert sum(check.passed is True for check in section.checks()) == passed
    cells = [cell for part in section.parts if isinstance(part, Table) for row in part.rows for cell in row]
    assert all(cell.ours != "-" for cell in cells if isinstance(cell, Cell))


def test_sections_are_whole_without_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spirv, "VALIDATOR", "no-such-compiler")
    _count_cached.cache_clear()
    section = made("table_5_1", tmp_path)
    (absent,) = (part for part in section.parts if isinstance(part, Absent))
    assert "no-such-compiler is not installed" in absent.why
    tables = [part for part in section.parts if isinstance(part, Table)]
    assert len(tables) == 6 and tables[0].rows[2][2].ours == "-"
    number, words = tables[0].rows[2][2], tables[0].rows[2][5]
    assert number.agrees is None and (words.published, words.ours) == (1, 1)
    assert words.agrees is None and "our records" in words.reason  # as of words that are not equal


def test_the_cost_model_s_sums_are_those_of_the_published_tables() -> None:
    """Typed in by hand on one side, worked out from table 5.1 and figure 5.2 on the other: to every digit."""
    rows, branching = TABLE_5_1["SIMD"], TABLE_5_1["MIMD"]
    for name, view in VIEWS.items():
        times = {"Generate Eye Ray": 1, "Traverse: Setup": 1, "Traverse: Step": view.v, "Intersect": view.t}
        times["Shade: Color"] = view.s
        cost = COST_DERIVED[name]
        total = PIXELS * sum(n * rows[kernel].instructions for kernel, n in times.items()) / 1e9
        assert round(total, 3) == cost["instructions"]
        words = sum(n * (4 * sum(rows[kernel][1:4]) + rows[kernel].state_written) for kernel, n in times.items())
        assert round(PIXELS * (words + view.passes) / 1e9, 2) == cost["bytes"]
        total = PIXELS * sum(n * branching[kernel].instructions for kernel, n in times.items()) / 1e9
        assert round(total, 3) == cost["MIMD instructions"]
        words = sum(n * 4 * sum(branching[kernel][1:4]) for kernel, n in times.items())
        assert round(PIXELS * words / 1e9, 2) == cost["MIMD bytes"]


def test_the_published_tables_agree_with_one_another() -> None:
    assert {name: view.passes for name, view in VIEWS.items()} == {n: row.total for n, row in TABLE_5_2.items()}
    for row in TABLE_5_2.values():
        assert row.total == row.traversal + row.intersection + row.other
    assert set(TABLE_5_3) < set(TABLE_5_1["SIMD"]) == set(TABLE_5_1["MIMD"])
    assert {round(f.fps * (f.traversal + f.intersection)) for f in TABLE_5_4.values()} == {756, 2473, 2367, 1577}
