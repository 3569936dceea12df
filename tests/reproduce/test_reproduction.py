"""``tools/reproduce.py``: the report is whole whatever is absent, goes on where it was, and leads nowhere."""

from __future__ import annotations

import json
import multiprocessing
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

import reproduce
from reproduction import page, run, shown
from reproduction.context import Context
from reproduction.report import (
    ARITHMETIC,
    CLAIM,
    OWN,
    SECTIONS,
    Absent,
    AbsentError,
    Cell,
    Check,
    Conclusion,
    Fault,
    Figure,
    Registered,
    Section,
    Table,
    Text,
    Wish,
)
from reproduction.stored import Measurements

from raystream.base.errors import ViewerError

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
    Conclusion("D 1", "A claim of two.", [True, False], "5 and 7"),
    Table("t", ("row", "a", "b"), [("x", Cell(1.5, 12345.6, True, "to a word"), None), ("y", 2, "text")], "note"),
    Figure("drawn", svg='<?xml version="1.0"?><svg xmlns="x"><g id="a"/><use href="#a" clip-path="url(#a)"/></svg>'),
    Figure("painted", png=shown.webp(np.zeros((2, 3, 3), np.uint8))),
    Fault("D 1", "wrong", "right"),
    Absent("Quake3", "no level"),
    Wish("D 1", "scatter", "CUDA", "points"),
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
            Cell(1, 2, agrees, " ")
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
    assert Conclusion("D 1", "A claim.", found, "").verdict == verdict


def test_the_page_is_made_again_from_what_is_stored(context: Context, tmp_path: Path, capsys: Any) -> None:
    picture = shown.webp(np.full((4, 6, 3), 90, np.uint8))

    def make(context: Context) -> Any:
        found = context.keep(("unit", (1, 2)), lambda: {"picture": picture, "numbers": np.arange(3), "value": 1.5})
        yield Figure("painted", png=found["picture"])
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
        monkeypatch.setitem(SECTIONS, name, registered(make, name))
    monkeypatch.setattr(run.signal, "signal", lambda *_: None)
    taken = multiprocessing.Value("i", 1)
    run.fill(context.folder, None, ["a", "b", "c"], taken)
    for name in "abc":
        run.make(context, SECTIONS[name])
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
    with pytest.raises(AbsentError):
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
    assert len(listed) == len(SECTIONS) and listed[0].startswith("kernel_streams")


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

    monkeypatch.setitem(SECTIONS, "fig_7_1", registered(stopped, "fig_7_1"))
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
