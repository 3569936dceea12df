"""``raystream doctor``: its report line by line, crashes of a driver that it outlives, and its whole run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import doctor_items
import pytest
from calls import error_line, run

from raystream.base.errors import DeviceError
from raystream.cli import doctor
from raystream.cli.doctor import (
    COMPILE,
    DEVICE,
    FALLBACKS,
    MICROSECONDS,
    SPEED,
    DeviceUnderTest,
    compare_pictures,
    items,
    report_data,
    report_lines,
    run_item,
    verdicts,
)
from raystream.cli.main import COMMANDS
from raystream.stream.gl.device import Device
from raystream.stream.selftest.check import DIFFERS, FAIL, PASS
from raystream.stream.selftest.fallbacks import CHECKS
from tests.signals import children, ctrl_c, gone, heeding, starts

PATIENCE = 300.0  # seconds, against hanging alone
QUICK = ("device: capabilities", "masks: depth mask", "masks: kill mask", "fallbacks: ways", "microseconds: wait")


def quiet(share: float, text: str) -> None:
    assert 0.0 <= share <= 1.0 and text.startswith("examining ")


@pytest.fixture
def own_items(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The doctor with the items of the tests, here and in its children."""
    monkeypatch.setattr(doctor, "items", lambda: doctor_items.ITEMS)
    monkeypatch.setattr(doctor, "CODE", doctor_items.CODE.format(folder=str(Path(__file__).parent)))
    return doctor_items.ITEMS


# -- items -------------------------------------------------------------------------------------------------------------


def test_an_item_is_data(device: Device) -> None:
    began = time.perf_counter()
    data = run_item(DeviceUnderTest(None), items()["masks: kill mask"])
    assert 0 < data.pop("seconds") <= time.perf_counter() - began + 1e-4  # rounded
    assert data == {"verdict": "pass", "text": "", "figures": {}}


def test_a_failed_self_test_is_told_with_the_way_around(device: Device) -> None:
    subject = DeviceUnderTest(None)
    subject.device = Device(device.context, distrusted=frozenset({"depth mask"}))
    assert run_item(subject, items()["masks: depth mask"])["verdict"] == "fail"
    (first, *_) = run_item(subject, items()["fallbacks: ways"])["lines"]
    assert "--mask kill in place of depth" in first


def test_pictures_are_compared() -> None:
    import numpy as np

    one = {"linear": np.full((10, 10, 3), 0.5, np.float32), "depth": np.ones((10, 10), np.float32)}
    assert compare_pictures(one, one).verdict == "pass"
    near, far = {**one, "linear": one["linear"].copy()}, {**one, "linear": one["linear"].copy()}
    near["linear"][3, 4] += 1e-6
    assert compare_pictures(one, near).verdict == "differs" and "1 of 100 pixels" in compare_pictures(one, near).text
    far["linear"][3:6] += 0.1
    assert compare_pictures(one, far).verdict == "fail"
    far["linear"][0, 0, 0] = np.nan
    assert compare_pictures(one, far).text == "1 pixels are not finite"


# -- children ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_doctor_outlives_a_driver(own_items: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ITEM_SECONDS", 10.0)
    told = doctor.examination(None, quiet)
    assert list(told) == list(own_items)
    texts = {key: data["text"] for key, data in told.items()}
    assert texts["masks: dies"] == "the process died: SIGKILL (last words)"
    assert texts["masks: raises"] == "ValueError: no" and texts["masks: hangs"] == "no answer in 10 s"
    assert texts["pictures: leaves"] == "the process died: exit code 3"
    assert texts["pictures: cold"] == "true"
    first, last = told["masks: first"], told["pictures: last"]
    assert first["verdict"] == last["verdict"] == "pass"
    assert first["figures"]["number"] is None and first["figures"]["pid"] != last["figures"]["pid"]


def test_a_driver_on_which_nothing_lives(own_items: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"masks: {k}" for k in range(doctor.MAX_DEATHS + 2)]
    dying = {key: doctor_items.ITEMS["masks: dies"] for key in keys}
    monkeypatch.setattr(doctor, "items", lambda: dying)
    monkeypatch.setattr(doctor, "CODE", "import os; os.abort()")
    told = doctor.examination(None, quiet)
    assert [data["text"] for data in told.values()].count("the process died: SIGABRT") == doctor.MAX_DEATHS
    assert [data["text"] for data in told.values()][-2:] == ["not run: no process lives that long here"] * 2


def test_without_a_device(device: Device) -> None:
    with pytest.raises(DeviceError, match="no device 99"):
        doctor.examination(99, quiet, QUICK)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
def test_ctrl_c_while_a_child_starts(own_items: dict[str, Any]) -> None:
    with starts(ctrl_c) as made:
        with pytest.raises(KeyboardInterrupt):
            doctor.examination(None, quiet)
        assert len(made) == 1 and gone(made[0])


# -- the report --------------------------------------------------------------------------------------------------------


def test_a_report_and_its_lines(device: Device) -> None:
    told = doctor.examination(None, quiet, QUICK)
    report = report_data(told, 1.25)
    assert json.loads(json.dumps(report)) == report
    assert [check["verdict"] for check in report["checks"]] == ["pass", "pass"]
    assert report["device"]["renderer"] == device.name and report["device"]["features"]
    assert report["fallbacks"] == [] and report["microseconds"]["wait"] > 0
    assert report["line"].count("\n") == 0 and device.name in report["line"] and "2 pass" in report["line"]
    shown = list(report_lines(report, "x.json"))
    assert shown[-1] == report["line"] and any("x.json" in line for line in shown)


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_report_that_cannot_be_written_is_told_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run("doctor", "-o", str(tmp_path / "none" / "report.json"), code=2)
    assert "there is no folder" in error_line(capsys)


@pytest.mark.parametrize("wrong", [False, True])
def test_the_command(
    wrong: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"masks: depth mask": {"verdict": "fail" if wrong else "pass", "text": ""}}
    monkeypatch.setattr(doctor, "examination", lambda *arguments: told)
    path = tmp_path / "report.json"
    run("doctor", "-o", str(path), code=1 if wrong else 0)
    shown = capsys.readouterr().out.splitlines()
    assert json.loads(path.read_text())["line"] == shown[-1]
    run("doctor", "-o", str(path), "--quiet", code=1 if wrong else 0)
    assert capsys.readouterr().out == ""
    run("doctor", "-o", "-", code=1 if wrong else 0)
    out, err = capsys.readouterr()
    assert json.loads(out)["line"] == err.splitlines()[-1]
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]
    assert COMMANDS["doctor"].option("output").value.default == "raystream-doctor.json"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_ctrl_c_leaves_nothing(device: Device, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "raystream", "doctor"]
    asked = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=heeding)
    end = time.monotonic() + PATIENCE
    while not (made := children(asked.pid)) and time.monotonic() < end:
        time.sleep(0.02)
    assert made
    asked.send_signal(signal.SIGINT)
    _, said = asked.communicate(timeout=PATIENCE)
    assert asked.returncode == 130 and said.decode().splitlines()[-1] == "raystream: stopped"
    assert not list(tmp_path.iterdir())
    assert not any(Path(f"/proc/{number}").exists() for number in made)


REPORT: dict[str, Any] = {
    DEVICE: {
        "renderer": "llvmpipe",
        "version": "4.5",
        "features": {"timers": True, "barriers": False, "buffers": True, "queries": False},
    },
    "checks": [
        {"name": "sums", "verdict": PASS, "text": "exact"},
        {"name": "roots", "verdict": DIFFERS, "text": "by 1 ulp"},
        {"name": "loops", "verdict": FAIL, "text": ""},
        {"name": "more sums", "verdict": PASS, "text": ""},
        {"name": "pixels", "verdict": FAIL, "text": "3 of 4"},
    ],
    FALLBACKS: ["masks by stencil"],
    MICROSECONDS: {"a pass": 1234.4, "a query": None, "a read": 2.6},
    COMPILE: {"cast": {"programs": 2, "compile_seconds": 0.126}, "path": {"verdict": FAIL}},
    SPEED: {"cornell": {"cast_mrays": 12.345, "path_msamples": 0.98765}, "hall": {}},
    "seconds": 61.5,
    "line": "raystream 1; llvmpipe",
}


def test_all_lines_of_a_report() -> None:
    """What the driver lacks, what is not as it should be, and the tables, of what there is alone."""
    assert verdicts(REPORT) == {PASS: 2, DIFFERS: 1, FAIL: 2}
    assert list(report_lines(REPORT, "report.json")) == [
        "llvmpipe, OpenGL 4.5",
        "lacks      barriers, queries",
        "self-tests 2 pass, 1 differ, 2 fail",
        f"  {FAIL:8} loops",
        f"  {FAIL:8} pixels: 3 of 4",
        f"  {DIFFERS:8} roots: by 1 ulp",
        "  instead  masks by stencil",
        "microseconds: a pass 1,234, a read 3",
        "seconds to compile: cast 0.13",
        "cornell: 12.3 Mrays/s cast, 0.988 Msamples/s path traced",
        "62 s; the whole report is in report.json; this line may go into an issue:",
        "raystream 1; llvmpipe",
    ]


@pytest.mark.slow
def test_all_of_it(device: Device, tmp_path: Path) -> None:
    """In a minute of a core's time by a software rasteriser, on which nothing fails."""
    before = os.times()
    command = [sys.executable, "-P", "-m", "raystream", "doctor"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "raystream-doctor.json").read_text())
    assert done.stdout.splitlines()[-1] == report["line"]
    assert {check["name"] for check in report["checks"]} >= set(CHECKS)
    assert not [check for check in report["checks"] if check["verdict"] == "fail"]
    assert len(report["speed"]) == 5 and all(each["path_msamples"] > 0 for each in report["speed"].values())
    assert all(each["compile_seconds"] > 0 for each in report["compile"].values())
    assert all(each > 0 for each in report["microseconds"].values())
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert spent < 60 or not device.software
