"""What a reader meets on the page: papers and abbreviations explained, bounds of what passes alone, numbers in words'
reach, and values in the order in which sections laid them out."""

from __future__ import annotations

import json
import re
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import page, run
from reproduction import report as grades
from reproduction.report import (
    ARITHMETIC,
    CLAIM,
    FAULTS,
    NOT_EXAMINED,
    OMISSIONS,
    PAPERS,
    WISHES,
    Check,
    Conclusion,
    Fault,
    Section,
    Table,
    Text,
)
from reproduction.sections import table_5_2
from reproduction.stored import Measurements

REPORT = Path(page.__file__).parent
FACTS = {**dict.fromkeys(("raystream", "renderer", "date", "commit"), "x"), "quick": False}


def page_of(*parts: Any) -> str:
    return page.page([Section("toy", "Toy", "D 5.2.1", parts)], FACTS, "x")


def test_stored_values_keep_the_order_of_their_keys(tmp_path: Path) -> None:
    value = {"naive": 3, "Delany": 1, "20 %": {"b": 1, "a": 2}}
    made = Measurements({"quick": False})
    made.put("toy", "unit", value, {"date": "2026-11-27"})
    made.write(tmp_path)
    found, _ = Measurements.read(tmp_path).get("toy", "unit")
    assert list(found) == list(value) and list(found["20 %"]) == ["b", "a"]


def test_oracles_stand_under_their_names_in_whatever_order_they_are_stored() -> None:
    names = list(table_5_2.ORACLES)
    row = {"max_steps": 60, "max_tests": 40, "over bound": 1.0, "efficiency": 0.1}
    rows = {name: {**row, "total": table_5_2.OTHER_PASSES + 100 * (k + 1)} for k, name in enumerate(names)}
    shares = {str(share): 100 for share in sorted(table_5_2.SHARES, key=str)}
    kept = {"rows": dict(sorted(rows.items())), "shares": shares, "best": 100, "naive of most": None}
    table = table_5_2._oracles({"Forest Inside": kept})
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        **{"view": "Forest Inside", "bound": 100, "best found": "1.00"},
        **{name: f"{k + 1}.00" for k, name in enumerate(names)},
    }


def test_papers_and_abbreviations_are_explained_before_the_conclusions() -> None:
    text = page_of(Text("A MIMD machine & a <b>"), Conclusion("D 1", "SIMD does.", [True], "5"))
    before = text[: text.index("<caption>Measured or counted")]
    for name, paper in PAPERS.items():
        assert name == "all" or f"<dt>{name}</dt><dd>{paper.full.partition(': ')[2]}</dd>" in unescape(before)
    assert "SIMD is the machine of the papers" in before and "MIMD the one that branches" in before
    assert '<abbr title="multiple instruction' in text and ">MIMD</abbr> machine &amp; a &lt;b&gt;" in text


def test_what_passes_says_its_bound_and_not_why_it_might_have_failed() -> None:
    checks = [
        Check(CLAIM, "one", 1, 1, True, NOT_EXAMINED, "within 5 points"),
        Check(ARITHMETIC, "two", 1, 1, True, "to pass, other kernels move more"),
        Check(ARITHMETIC, "three", 1, 2, False, "other kernels move less", "by half a byte"),
        Check(ARITHMETIC, "four", 1, 2, None, bound="another scene"),
    ]
    text = page_of(*checks)
    section = text[text.index('<section id="toy"') :]
    assert '<div class="why">within 5 points</div>' in section and '<div class="why">another scene</div>' in section
    assert text.count('<div class="why">by half a byte; other kernels move less</div>') == 1
    assert NOT_EXAMINED not in section and "other kernels move more" not in section


@pytest.mark.parametrize(
    ("value", "shown"), [(5.6e7, "56 M"), (2.22e8, "222 M"), (2.5e9, "2.5 G"), (0.5, "0.5"), (1_048_576, "1,048,576")]
)
def test_large_numbers_are_in_millions(value: float, shown: str) -> None:
    assert page.number(value) == shown


def test_cells_do_not_run_together_in_copied_text() -> None:
    beside = grades.beside("128", "7\N{DEGREE SIGN}", "another camera")
    wide = [f"column {number}" for number in range(7)]
    row = ("row", *[beside] * 5, grades.near(10, 11, 0.25, "alike"))
    text = unescape(re.sub(r"<[^>]*>", "", page_of(Table("t", wide, [row]))))
    assert "7\N{DEGREE SIGN} (128)" in text and "11\N{NO-BREAK SPACE}\N{CHECK MARK}\N{NO-BREAK SPACE}[1] (10)" in text


def test_rows_stand_once() -> None:
    """A check that differs in its section alone, errors in their list alone, tables of the papers above alone."""
    check, error = Check(CLAIM, "one of them", 1, 2, False, "tried"), Fault("D 5.2", "what is said", "what is right")
    title = page.MAIN["table_5_2"][0]
    table = Table(title, ("row", "a"), [("only row", grades.near(10, 15, 0.25, "alike", "tried"))], checks=[check])
    text = page.page([Section("table_5_2", "Toy", "D 5.2.1", [table, error, error])], FACTS, "x")
    for once in ("one of them", "what is said", "only row"):
        assert text.count(once) == 1
    main, appendix = text.split('<h2 id="appendix">')
    assert "only row" in main and "what is said" in main and "one of them" in appendix


def test_the_answer_is_of_verdicts() -> None:
    known = list(page.HEADLINES)
    results = [True], [False], [False], [True, False]
    made = [Conclusion("D 1", claim, graded, "") for claim, graded in zip(known, results, strict=False)]
    one, part, others = page.answer(made)
    assert one == f"that {page.HEADLINES[known[0]]}" and part == f"that {page.HEADLINES[known[3]]}"
    assert others == f"that {page.HEADLINES[known[1]]} and that {page.HEADLINES[known[2]]}"
    assert [each.counts for each in made[2:]] == ["", "1 of 2"] and "1 of 2" in page.page(
        [Section("toy", "Toy", "D 5.2.1", [made[3]])], FACTS, "x"
    )
    report = json.loads((REPORT.parent / "results" / "reproduction" / "report.json").read_text())
    assert set(known) <= {each["claim"] for each in report["conclusions"]}


def test_claims_are_told_apart_by_what_judges_them() -> None:
    """The papers' model over our rays is no measurement; a claim counts for each paper that it names, once in all."""
    one = Conclusion("D 5.2.2, P2 4.1", "Of the model.", [True], "5")
    two = Conclusion("P2 3.1", "Counted.", [True, False], "6")
    three = Conclusion("T 8", "By its own numbers.", [False], "7", ARITHMETIC)
    sections = [Section("cost_model", "Toy", "D 5.2.1", [one]), Section("toy", "Toy", "P2 3.1", [two, three])]
    found = page.conclusions_by_judge(page.concluded(sections))
    assert [[each.claim for _, each in members] for members in found.values()] == [
        ["Counted."],
        ["Of the model."],
        ["By its own numbers."],
    ]
    assert list(found) == [CLAIM, page.MODEL, ARITHMETIC]
    rows = dict(page.verdict_counts(page.concluded(sections)))
    assert rows["D"] == [1, 0, 0, 0] and rows["P2"] == [1, 1, 0, 0] and rows["T"] == [0, 0, 1, 0]
    assert rows["all"] == [1, 1, 1, 0] and rows["A"] == [0] * 4
    text = unescape(page.page(sections, FACTS, "x"))
    places = [text.index(f"<caption>{page.JUDGES[kind][0]}") for kind in found]
    places += [text.index(f">{each.claim}<") for each in (two, one, three)]
    assert sorted(places) == [places[0], places[3], places[1], places[4], places[2], places[5]]
    assert set(page.MODELLED) <= {each.identifier for each in run.chosen()}


def test_a_day_s_measurements_on_a_machine_are_a_line() -> None:
    head = "2026-11-27, llvmpipe (LLVM 15.0.6, 256 bits), AMD EPYC, 2 CPUs"
    made = [
        f"{head}, load to 2.5, commit abc",
        f"{head}, load to 10.5, commit def+",
        f"{head}, load to 10.5, commit abc",
    ]
    made.append("2026-11-28, other, CPU, 4 CPUs, load not recorded, commit not recorded")
    sections = [Section("one", "One", "D 1", [], made[:2]), Section("two", "Two", "D 1", [], made[1:])]
    assert page.origin_lines(sections) == [
        f"{head}, loads 2.5 to 10.5, commits abc, def+",
        "2026-11-28, other, CPU, 4 CPUs, load not recorded, commit not recorded",
    ]


def test_what_is_left_out_is_no_error() -> None:
    omitted = next(fault for fault in FAULTS if fault in OMISSIONS)
    wrong = next(fault for fault in FAULTS if fault not in OMISSIONS)
    assert set(FAULTS) > OMISSIONS
    text = unescape(page_of(omitted, wrong))
    errors = text[text.index('<h2 class="head" id="errors">') :]
    assert errors.index(wrong.right) < errors.index("What is left out<") < errors.index(omitted.right)
    assert "1 errors and 1 omissions were found" in text


def test_constraints_name_what_is_needed() -> None:
    """Every package that the report asks for, at the version of one that made it; no address."""
    lines = (REPORT / "constraints.txt").read_text().splitlines()
    pinned = {each.partition("==")[0].lower() for each in lines if "==" in each}
    project = tomllib.loads((REPORT.parents[1] / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["reproduce"]]
    assert {re.split(r"[^\w.-]", each)[0].lower() for each in needed} <= pinned
    assert not any("/" in each for each in lines if not each.startswith("#"))


def test_every_wish_has_a_source_with_a_year_and_what_is_here() -> None:
    for where, wish, field, here, _ in WISHES:
        assert where.partition(" ")[0].rstrip(",") in PAPERS and wish.endswith(".") and here.endswith(".")
        assert any(f"{year}" in field for year in range(1980, 2027)) or "EXT_" in field, wish
        assert "  " not in field
