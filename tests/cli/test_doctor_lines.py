"""The doctor's report as a terminal shows it, line by line."""

from __future__ import annotations

from typing import Any

from raystream.cli.doctor import COMPILE, DEVICE, FALLBACKS, MICROSECONDS, SPEED, report_lines, verdicts
from raystream.stream.selftest.check import ABSENT, DIFFERS, FAIL, PASS

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


def test_a_driver_that_lacks_nothing_or_does_not_answer() -> None:
    bare = {**REPORT, **{key: {} for key in (DEVICE, MICROSECONDS, COMPILE, SPEED)}, FALLBACKS: []}
    bare["checks"] = [{"name": "start", "verdict": ABSENT, "text": "no device"}]
    assert list(report_lines(bare, "r"))[:3] == [
        "the driver gives no answer, OpenGL ?",
        "self-tests 1 absent",
        f"  {ABSENT:8} start: no device",
    ]
    device = {**REPORT[DEVICE], "features": {"timers": True}}
    assert not any(line.startswith("lacks") for line in report_lines({**REPORT, DEVICE: device}, "r"))
