"""``tools/reproduce.py``: the report is whole whatever is absent, goes on where it was, leads nowhere; timings."""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reproduce
from reproduction import page, report, run, scene_files, shown, timed
from reproduction import report as grades
from reproduction.context import Context
from reproduction.report import ARITHMETIC, CLAIM, OWN, Absent, Check, Registered, Section, Table, Text, beside, exact
from reproduction.scene_files import MISSING, OTHER, RIGHT, SceneFile
from reproduction.sections import machines
from reproduction.stored import FILE, Measurements
from reproduction.timed import Quiet, Spread

import raystream
from raystream.base.errors import ViewerError

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")


FACTS: dict[str, Any] = dict.fromkeys(("raystream", "renderer", "driver", "cpu", "os", "python", "date"), "<x>")
FACTS |= {"cpus": 2, "quick": True, "commit": "abc"}


def registered(make: Any, name: str = "toy", quick: bool = True) -> Registered:
    return Registered(name, "A toy", "D 5.2.1, P2 3.2", quick, 0, make)


PARTS = [
    Text("a < b & c"),
    Check(CLAIM, "agrees", 1, np.float32(1), True),
    Check(CLAIM, "differs", 5, 7, False, "because"),
    Check(CLAIM, "beside", 5, 7, None, "another scene"),
    Check(ARITHMETIC, "sums", 5, 7, False, "by its own numbers"),
    Check(OWN, "bits", 1, 1, True),
    report.Conclusion("D 1", "A claim of two.", [True, False], "5 and 7"),
    Table(
        "t", ("row", "a", "b"), [("x", report.Cell(1.5, 12345.6, True, "to a word"), None), ("y", 2, "text")], "note"
    ),
    report.Figure(
        "drawn", svg='<?xml version="1.0"?><svg xmlns="x"><g id="a"/><use href="#a" clip-path="url(#a)"/></svg>'
    ),
    report.Figure("painted", png=shown.webp(np.zeros((2, 3, 3), np.uint8))),
    report.Fault("D 1", "wrong", "right"),
    Absent("Quake3", "no level"),
    report.Wish("D 1", "scatter", "CUDA", "points"),
]


class Addresses(HTMLParser):
    """All that a page would fetch or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append(tag)
        self.found += [value for name, value in attributes if name in ("src", "href", "xlink:href", "data", "srcset")]


def check_self_contained(text: str) -> Addresses:
    reader = Addresses()
    reader.feed(text)
    assert all(each.startswith(("#", "data:image/")) for each in reader.found), reader.found
    assert not {"script", "link", "iframe", "object"} & set(reader.tags)
    assert "@import" not in text and not re.search(r"url\((?!#)", text)
    return reader


def test_the_page_holds_everything_and_leads_nowhere(tmp_path: Path) -> None:
    section = Section("toy", "A toy", "D 5.2.1", PARTS)
    path = page.write(tmp_path, [section, Section("other", "Other", "A", PARTS)], FACTS, "python tools/reproduce.py")
    text = path.read_text()
    reader = check_self_contained(text)
    inner = [each for each in reader.found if each.startswith("#")]
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert {each[1:] for each in inner} <= set(ids) and len(ids) == len(set(ids))
    assert "a &lt; b &amp; c" in text and "12,346" in text and "&lt;x&gt;" in text
    files = {each.name for each in (tmp_path / "figures").iterdir()}
    assert files == {f"{name}_{each}" for name in ("toy", "other") for each in ("8_drawn.svg", "9_painted.webp")}


def test_the_three_tallies_are_apart(tmp_path: Path) -> None:
    sections = [Section("toy", "A toy", "D 5.2.1", PARTS), Section("other", "Other", "A", PARTS[:1])]
    found = page.tallies(sections)
    assert found == {CLAIM: page.Count(1, 1, 1), ARITHMETIC: page.Count(0, 1, 0), OWN: page.Count(1, 0, 0)}
    text = page.write(tmp_path, sections, FACTS, "x").read_text()
    for kind, name in page.TALLIES.items():
        numbers = (found[kind].passed, found[kind].failed, found[kind].beside)
        row = f"<td>{name}</td>" + "".join(f'<td class="n">{each}</td>' for each in numbers)
        assert row in text
    assert "checks agree" not in text
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["tallies"][CLAIM] == {"passed": 1, "failed": 1, "beside": 1}
    assert [each["verdict"] for each in data["conclusions"]] == ["in part"]
    assert data["cells"] == {"passed": 1, "failed": 0, "beside": 0}


def test_a_grade_without_a_reason_is_refused() -> None:
    for agrees in (True, False, None):
        with pytest.raises(ValueError, match="a grade without a reason"):
            report.Cell(1, 2, agrees, " ")
    for passed in (False, None):
        with pytest.raises(ValueError, match="a grade without a reason"):
            Check(CLAIM, "x", 1, 2, passed)
    with pytest.raises(ValueError, match="no kind of check"):
        Check("claims", "x", 1, 1, True)


@pytest.mark.parametrize(
    "found, verdict",
    [
        ([True, None], "holds"),
        ([True, False], "in part"),
        ([False, None], "does not hold here"),
        ([None], "shown beside"),
        ([], "shown beside"),
    ],
)
def test_verdicts(found: list[bool | None], verdict: str) -> None:
    assert report.Conclusion("D 1", "A claim.", found, "").verdict == verdict


def test_the_page_is_made_again_from_what_is_stored(context: Context, tmp_path: Path, capsys: Any) -> None:
    picture = shown.webp(np.full((4, 6, 3), 90, np.uint8))

    def make(context: Context) -> Any:
        found = context.keep(("unit", (1, 2)), lambda: {"picture": picture, "numbers": np.arange(3), "value": 1.5})
        yield report.Figure("painted", png=found["picture"])
        yield Text(f"{found['numbers'].sum()} and {found['value']} on {context.device_name}")

    first = run.make(context, registered(make))
    context.measured.write(tmp_path)
    again = run.make(Context(tmp_path, stored=Measurements.read(tmp_path)), registered(make))
    assert again == first and len(again.made) == 1 and "commit" in again.made[0]
    assert [each.read_bytes() for each in (tmp_path / "pictures").iterdir()] == [picture]
    other = run.make(Context(tmp_path, stored=Measurements.read(tmp_path)), registered(make, "other"))
    assert [type(part) for part in other.parts] == [Absent] and "not among the stored" in other.parts[0].why
    with pytest.raises(TypeError, match="no measurement"):
        context.measured.put("toy", "large", np.zeros(10_000), {"date": ""})
    next((tmp_path / "pictures").iterdir()).unlink()
    assert reproduce.main(["--from", str(tmp_path), "-o", str(tmp_path / "out")]) == 2
    assert "holds no toy_" in capsys.readouterr().err


def test_an_interrupted_run_goes_on(context: Context) -> None:
    calls: list[int] = []
    stop = [True]

    def make(context: Context) -> Any:
        for number in range(3):
            if number == 2 and stop[0]:
                raise KeyboardInterrupt
            yield Text(context.keep(("unit", number), lambda number=number: calls.append(number) or f"unit {number}"))

    with pytest.raises(KeyboardInterrupt):
        run.make(context, registered(make))
    stop[0] = False
    section = run.make(context, registered(make))
    assert calls == [0, 1, 2] and [part.text for part in section.parts] == ["unit 0", "unit 1", "unit 2"]
    assert not list(context.folder.rglob("*.part"))
    context.quick = False  # another key: other sizes
    run.make(context, registered(make))
    assert calls == [0, 1, 2, 0, 1, 2]


def test_another_process_makes_what_has_not_fallen_to_this_one(context: Context, monkeypatch: Any) -> None:
    def make(context: Context) -> Any:
        yield Text(context.keep("unit", lambda: "x"))

    for name in "abc":
        monkeypatch.setitem(report.SECTIONS, name, registered(make, name))
    monkeypatch.setattr(run.signal, "signal", lambda *_: None)
    taken = multiprocessing.Value("i", 1)
    run.fill(context.folder, None, ["a", "b", "c"], taken)
    for name in "abc":
        run.make(context, report.SECTIONS[name])
    assert (context.made, context.found) == (1, 2) and not list(run._turns(taken, 3))


def test_two_processes_make_a_quick_report_in_its_order(tmp_path: Path, monkeypatch: Any) -> None:
    """Sections that time are made by one process alone, behind the others."""
    shared: list[str] = []
    whole = run.other_process

    def noted(context: Context, wanted: Any) -> Any:
        shared.extend(each.identifier for each in wanted)
        return whole(context, wanted)

    def clock(context: Context) -> Any:
        assert not multiprocessing.active_children()
        yield Text("tick")

    monkeypatch.setattr(run, "other_process", noted)
    cheap = run.chosen(["fig_7_1", "memory_layout", "faults"])
    wanted = [Registered("clock", "A clock", "D 1", True, 0, clock, timed=True), *cheap]
    _, made = run.report(Context(tmp_path, quick=True), wanted, "x", lambda share, text: None)
    assert [each.identifier for each in made] == [each.identifier for each in wanted]
    assert all(each.parts for each in made) and shared == [each.identifier for each in cheap]


def test_what_is_absent_is_told_and_the_rest_is_there(context: Context, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("RAYSTREAM_SHARED", str(tmp_path))

    def make(context: Context) -> Any:
        yield Text("before")
        context.scene("nowhere.ply")

    section = run.make(context, registered(make))
    assert section.parts[0] == Text("before") and "nowhere.ply not found" in section.parts[1].why
    slow = run.make(context, registered(make, quick=False))
    assert [type(part) for part in slow.parts] == [Absent] and "--only toy" in slow.parts[0].why
    with pytest.raises(report.AbsentError):
        context.file("nowhere.ply")


@pytest.mark.parametrize("damage", ["cut", "flip", "text"])
def test_a_damaged_kept_file_is_one_line(context: Context, damage: str) -> None:
    def make(context: Context) -> Any:
        yield Text(context.keep("unit", lambda: "a text of some length " * 20))

    run.make(context, registered(make))
    (path,) = context.folder.rglob("*.npz")
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[len(data) // 3] ^= 0xFF
    path.write_bytes({"cut": data[: len(data) // 2], "flip": data, "text": b"nothing of the kind"}[damage])
    with pytest.raises(ViewerError, match=r"kept result is damaged.*remove it") as error:
        run.make(context, registered(make))
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "out"
    assert reproduce.main(["--quick", "-o", str(folder), "--only", "fig_7_1", "memory_layout", "faults"]) == 0
    text = (folder / "report.html").read_text()
    check_self_contained(text)
    assert "wrote" in capsys.readouterr().out and str(tmp_path) not in text
    assert {each.name for each in folder.iterdir()} == {"report.html", "report.json", "figures"}
    assert reproduce.main(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(report.SECTIONS) and listed[0].startswith("kernel_streams")


@pytest.mark.parametrize(
    "line, said",
    [
        (["--only", "tabel_5_2"], "--only tabel_5_2: no such section (did you mean 'table_5_2'?"),
        (["--only", "nothing"], "--list names them all"),
        (["--from", "nowhere"], "--from nowhere: holds no measurements.json (name a folder that reproduce.py has"),
        (["--only"], "expected at least one argument (see --help)"),
        (["--device", "x"], "argument --device: invalid int value: 'x' (see --help)"),
        (["-o", "{file}/x", "--only", "fig_7_1"], "cannot be written: Not a directory (choose another -o)"),
        (["-o", "", "--only", "fig_7_1"], "-o: names nothing (name a folder)"),
        (["-o", "{file}", "--only", "fig_7_1"], "is a file (name a folder)"),
    ],
)
def test_bad_input_is_one_line(line: list[str], said: str, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").write_text("")
    try:
        code = reproduce.main([each.format(file=tmp_path / "file") for each in line])
    except SystemExit as left:  # of the parser of arguments
        code = left.code
    assert code == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and error.startswith("reproduce.py: error: ")


def test_ctrl_c_leaves_the_last_report(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    line = ["-o", str(tmp_path), "--only", "fig_7_1"]
    assert reproduce.main(line) == 0
    before = (tmp_path / "report.html").read_bytes()

    def stopped(context: Context) -> Any:
        raise KeyboardInterrupt
        yield

    monkeypatch.setitem(report.SECTIONS, "fig_7_1", registered(stopped, "fig_7_1"))
    assert reproduce.main(line) == 130
    assert (tmp_path / "report.html").read_bytes() == before and "goes on from here" in capsys.readouterr().err


# The sections that take no pictures of weight; the others are made by the command.
CHEAP = (
    *("bitonic", "knn_grid", "stencil_routing", "photon_flow", "faults", "scene_files"),
    *("min_intensity", "own_pass_query"),
)


@pytest.mark.parametrize("name", CHEAP)
def test_every_check_that_can_be_decided_agrees(context: Context, name: str) -> None:
    (section,) = run.chosen([name])
    made = run.make(context, section)
    assert made.parts
    for check in made.checks():
        assert check.passed is not False or check.kind != OWN, check


LIVE = {"table_5_1", "table_5_3", "limits", "photon_settings"}  # which read words and settings off today's programs
COMMITTED = Path(__file__).parents[2] / "tools" / "results" / "reproduction"


def test_the_committed_report_is_that_of_its_measurements(tmp_path: Path) -> None:
    """Texts and grades of today over the measurements that are stored: what is committed was made by this code."""
    assert reproduce.main(["--from", str(COMMITTED), "-o", str(tmp_path)]) == 0
    made, committed = (json.loads((each / "report.json").read_text()) for each in (tmp_path, COMMITTED))
    sections = [{each["identifier"]: each for each in data["sections"]} for data in (made, committed)]
    for name, section in sections[1].items():
        if section["made"] and name not in LIVE:
            assert sections[0][name] == section
    text = (COMMITTED / "report.html").read_text()
    check_self_contained(text)
    assert sum(each.stat().st_size for each in COMMITTED.glob("report.*")) < 2 << 20
    for root in re.findall(r"<svg[^>]*>", text):
        assert "viewBox" in root  # so that it is made smaller where the page is narrow


def test_a_diagram_gets_smaller_with_the_page() -> None:
    made = page.inline('<svg xmlns="x" width="900" height="90.5pt"><g/></svg>', "a")
    assert 'viewBox="0 0 900 90.5"' in made
    kept_ = page.inline('<svg viewBox="0 0 1 2" width="9" height="9"/>', "a")
    assert kept_.count("viewBox") == 1


REPORT = Path(page.__file__).parent
PAGE_FACTS = {**dict.fromkeys(("raystream", "renderer", "date", "commit"), "x"), "quick": False}


def page_of(*parts: Any) -> str:
    return page.page([Section("toy", "Toy", "D 5.2.1", parts)], PAGE_FACTS, "x")


def test_stored_values_keep_the_order_of_their_keys(tmp_path: Path) -> None:
    value = {"naive": 3, "Delany": 1, "20 %": {"b": 1, "a": 2}}
    made = Measurements({"quick": False})
    made.put("toy", "unit", value, {"date": "2026-11-27"})
    made.write(tmp_path)
    found, _ = Measurements.read(tmp_path).get("toy", "unit")
    assert list(found) == list(value) and list(found["20 %"]) == ["b", "a"]


def test_oracles_stand_under_their_names_in_whatever_order_they_are_stored() -> None:
    names = list(machines.ORACLES)
    row = {"max_steps": 60, "max_tests": 40, "over bound": 1.0, "efficiency": 0.1}
    rows = {name: {**row, "total": machines.OTHER_PASSES + 100 * (k + 1)} for k, name in enumerate(names)}
    shares = {str(share): 100 for share in sorted(machines.SHARES, key=str)}
    kept = {"rows": dict(sorted(rows.items())), "shares": shares, "best": 100, "naive of most": None}
    (row,) = machines.oracle_rows({"Forest Inside": kept})
    assert row == ("Forest Inside", 100, *(f"{k + 1}.00" for k in range(len(names))), "1.00")


def test_what_passes_says_its_bound_and_not_why_it_might_have_failed() -> None:
    checks = [
        Check(CLAIM, "one", 1, 1, True, report.NOT_EXAMINED, "within 5 points"),
        Check(ARITHMETIC, "two", 1, 1, True, "to pass, other kernels move more"),
        Check(ARITHMETIC, "three", 1, 2, False, "other kernels move less", "by half a byte"),
        Check(ARITHMETIC, "four", 1, 2, None, bound="another scene"),
    ]
    text = page_of(*checks)
    section = text[text.index('<section id="toy"') :]
    assert '<div class="why">within 5 points</div>' in section and '<div class="why">another scene</div>' in section
    assert text.count('<div class="why">by half a byte; other kernels move less</div>') == 1
    assert report.NOT_EXAMINED not in section and "other kernels move more" not in section


GRADES_COMMITTED = Path(__file__).parents[2] / "tools" / "results" / "reproduction"
GRADES_FACTS = {**dict.fromkeys(("raystream", "renderer", "date", "commit"), "x"), "quick": False}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return Context(tmp_path_factory.mktemp("report"), stored=Measurements.read(GRADES_COMMITTED))


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
    graded = [("x", exact(1, 1), beside(2, None, "not comparable")), ("y", report.unprinted(3), None)]
    assert not table(graded).ungraded()
    assert table([("x", exact(1, 1), 2)]).ungraded() == [("x", "b")]
    assert not table([("x", exact(1, 1), 2)], own=("b",)).ungraded()
    assert table([("x", exact(1, 1), 2)], own=report.OURS).ungraded() == [("x", "a")]
    assert not table([("x", 1, 2)], own=report.OURS).ungraded()
    with pytest.raises(ValueError, match="no columns"):
        table([("x", 1, 2)], own=("c",))


def test_tables_and_columns_of_ours_alone_say_so() -> None:
    words = "ours alone: no paper prints these values"
    alone, both = table([("x", 1, 2)], own=report.OURS), table([("x", exact(1, 1), 2)], own=("b",))
    text = [page.page([Section("toy", "Toy", "D 5.2.1", [each])], GRADES_FACTS, "x") for each in (alone, both)]
    assert [words in each for each in text] == [True, False]
    assert '<th class="n">published</th><th class="n">ours</th><th class="n">ours</th>' in text[1]


@pytest.fixture
def timing(device: Any, tmp_path: Path) -> Context:
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


def test_cpus_that_the_runs_had_are_those_of_all_cases(timing: Context, monkeypatch: Any) -> None:
    cases = {name: {"wall": [2.0], "cpu": [cpu], "parts": {}} for name, cpu in (("b", 2.0), ("a", 1.0), ("c", 3.8))}
    found = {"cases": cases, "start": 0.1, "load": [0.1, 0.2], "others": None}
    monkeypatch.setattr(timed, "measured", lambda *_: found)
    timing.enter("toy", Toy().make)
    timed.keep(timing, ("cpus",), Toy().cases)
    assert timing.quiet[-1].own == (0.5, 1.9)


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


def registered_of_timed(make: Any, name: str = "toy", is_timed: bool = True) -> Registered:
    return Registered(name, "A toy", "D 5.2.1", True, 0, make, is_timed)


def texts(context: Context, toy: Toy) -> list[str]:
    return [part.text for part in run.make(context, registered_of_timed(toy.make)).parts]


@pytest.mark.parametrize("alone", [True, False])
def test_an_update_measures_again(timing: Context, tmp_path: Path, alone: bool) -> None:
    toy = Toy()
    run.make(timing, registered_of_timed(toy.make))
    timing.measured.put("toy", "stale", 1, {"date": ""})
    timing.measured.put("other", "unit", 5, {"date": ""})
    timing.measured.write(tmp_path)

    def update(stop: bool) -> Measurements:
        toy.stop = stop
        found = Measurements.read(tmp_path)
        again = Context(tmp_path, before=found if alone else None, kept="updating")
        again.__dict__["device"] = timing.device
        run.update(again, [registered_of_timed(toy.make)], found, lambda share, text: None)
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


def test_units_stay_where_something_is_absent(timing: Context, tmp_path: Path) -> None:
    toy = Toy()
    run.make(timing, registered_of_timed(toy.make))
    found = timing.measured

    def absent(context: Context) -> Any:
        yield Absent("bunny.ply", "not here")

    again = Context(tmp_path, kept="updating")
    run.update(again, [registered_of_timed(absent)], found, lambda share, text: None)
    assert len(json.loads((tmp_path / FILE).read_text())["units"]["toy"]) == 2


CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.1), (1.0, 1.0, 0.0)]
FACES = [(0, 1, 2), (1, 3, 2)]


def ply(path: Path, faces: list[tuple[int, ...]], text: bool) -> Path:
    kind = "ascii" if text else "binary_little_endian"
    head = f"ply\nformat {kind} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    if text:
        rows = [" ".join(map(str, corner)) for corner in CORNERS] + [f"3 {a} {b} {c}" for a, b, c in faces]
        path.write_text(head + "\n".join(rows) + "\n")
        return path
    body = np.array(CORNERS, "<f4").tobytes()
    body += b"".join(b"\3" + np.array(face, "<i4").tobytes() for face in faces)
    path.write_bytes(head.encode() + body)
    return path


def test_a_checksum_is_of_triangles_whatever_the_format(tmp_path: Path) -> None:
    one, two = ply(tmp_path / "one.ply", FACES, True), ply(tmp_path / "two.ply", FACES, False)
    assert scene_files.digest(one) == scene_files.digest(two)
    assert scene_files.digest(ply(tmp_path / "other.ply", FACES[::-1], True)) != scene_files.digest(one)
    assert scene_files.digest(one)[0] == 2


def test_files_are_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    """Right, missing, other and damaged files of a folder; only what is there and another makes an error."""
    (tmp_path / "scenes").mkdir()
    count, digest = scene_files.digest(ply(tmp_path / "any.ply", FACES, True))
    file = SceneFile("quad.ply", "https://example.org: quad.ply", count, digest, "its rows are left out")
    monkeypatch.setattr(scene_files, "FILES", (file,))
    for make, state, code in (
        (lambda path: None, MISSING, 0),
        (lambda path: ply(path, FACES, False), RIGHT, 0),
        (lambda path: ply(path, FACES[:1], True), OTHER, 1),
        (lambda path: path.write_text("ply\nnonsense"), OTHER, 1),
    ):
        make(tmp_path / "scenes" / "quad.ply")
        assert scene_files.file_state(file, tmp_path).startswith(state)
        assert reproduce.main(["--scenes", str(tmp_path)]) == code
        said = capsys.readouterr().out
        assert f"quad.ply: {state}" in said and digest in said and file.source in said
        assert ("without it: its rows are left out" in said) == (state != RIGHT)
    with pytest.raises(ViewerError, match="is no folder"):
        scene_files.summary(tmp_path / "nowhere")
    assert reproduce.main(["--scenes", str(tmp_path / "nowhere")]) == 2


def test_the_scene_data_has_the_files_of_the_report(shared_scenes: Path) -> None:
    states = {file.name: scene_files.file_state(file, shared_scenes.parent) for file in scene_files.FILES}
    assert set(states.values()) <= {RIGHT, MISSING} and RIGHT in states.values(), states
    assert raystream.load(str(shared_scenes / "bunny.ply")).triangle_count == scene_files.FILES[0].triangles
