"""What a reader meets on the page: papers and abbreviations explained, bounds of what passes alone, numbers in words'
reach, and values in the order in which sections laid them out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import page
from reproduction.report import (
    ARITHMETIC,
    CLAIM,
    NOT_EXAMINED,
    Check,
    Section,
)
from reproduction.sections import machines
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
    names = list(machines.ORACLES)
    row = {"max_steps": 60, "max_tests": 40, "over bound": 1.0, "efficiency": 0.1}
    rows = {name: {**row, "total": machines.OTHER_PASSES + 100 * (k + 1)} for k, name in enumerate(names)}
    shares = {str(share): 100 for share in sorted(machines.SHARES, key=str)}
    kept = {"rows": dict(sorted(rows.items())), "shares": shares, "best": 100, "naive of most": None}
    (row,) = machines.oracle_rows({"Forest Inside": kept})
    assert row == ("Forest Inside", 100, *(f"{k + 1}.00" for k in range(len(names))), "1.00")


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
