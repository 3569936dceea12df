"""Every published value in a table of the report has its grade and its reason, and tables of ours alone say so."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import page, run
from reproduction import report as grades
from reproduction.context import Context
from reproduction.report import OURS, Registered, Section, Table, beside, exact, unprinted
from reproduction.stored import Measurements

COMMITTED = Path(__file__).parents[2] / "tools" / "results" / "reproduction"
FACTS = {**dict.fromkeys(("raystream", "renderer", "date", "commit"), "x"), "quick": False}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return Context(tmp_path_factory.mktemp("report"), stored=Measurements.read(COMMITTED))


@pytest.mark.parametrize("registered", run.chosen(), ids=lambda each: each.identifier)
def test_no_value_of_a_table_is_ungraded(registered: Registered, stored: Context) -> None:
    """By the measurements that are stored: a column is of this project alone, or each of its values is a cell."""
    section = run.make(stored, registered)
    for table in (part for part in section.parts if isinstance(part, Table)):
        assert not table.ungraded(), table.title


@pytest.mark.parametrize("registered", run.chosen(), ids=lambda each: each.identifier)
def test_no_value_differs_for_a_reason_that_was_not_examined(registered: Registered, stored: Context) -> None:
    for cell in run.make(stored, registered).cells():
        assert cell.agrees is not False or "not examined" not in cell.reason, cell


def test_bounds_of_each_kind() -> None:
    """Ends are within; what lies beyond them by a hundredth is not."""
    assert grades.about(40, 50, grades.COUNT) and not grades.about(40, 50.4, grades.COUNT)
    assert grades.about(-4, -3, grades.COUNT) and not grades.about(4, 2.9, grades.COUNT)
    assert grades.at_points(0.5, 0.54) and not grades.at_points(0.5, 0.56) and not grades.at_points(0.5, 0.44)
    assert grades.saves(-0.5, -0.9) and grades.saves(-0.5, -0.46) and not grades.saves(-0.5, -0.44)
    assert [grades.between(6, 10, each) for each in (5.94, 5.95, 8, 10.5, 10.6)] == [False, True, True, True, False]
    assert grades.between(0.06, 0.1, 0.105) and not grades.between(0.06, 0.1, 0.106)


def table(rows: list[tuple[object, ...]], own: tuple[str, ...] = ()) -> Table:
    return Table("t", ("row", "a", "b"), rows, own=own)


def test_a_plain_value_beside_published_ones_is_found() -> None:
    graded = [("x", exact(1, 1), beside(2, None, "not comparable")), ("y", unprinted(3), None)]
    assert not table(graded).ungraded()
    assert table([("x", exact(1, 1), 2)]).ungraded() == [("x", "b")]
    assert not table([("x", exact(1, 1), 2)], own=("b",)).ungraded()
    assert table([("x", exact(1, 1), 2)], own=OURS).ungraded() == [("x", "a")]
    assert not table([("x", 1, 2)], own=OURS).ungraded()
    with pytest.raises(ValueError, match="no columns"):
        table([("x", 1, 2)], own=("c",))


def test_tables_and_columns_of_ours_alone_say_so() -> None:
    words = "ours alone: no paper prints these values"
    alone, both = table([("x", 1, 2)], own=OURS), table([("x", exact(1, 1), 2)], own=("b",))
    text = [page.page([Section("toy", "Toy", "D 5.2.1", [each])], FACTS, "x") for each in (alone, both)]
    assert [words in each for each in text] == [True, False]
    assert '<th class="n">published</th><th class="n">ours</th><th class="n">ours</th>' in text[1]
