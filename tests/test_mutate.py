"""The list of small faults fits the code, and the tool that puts them in tells caught from survived."""

from __future__ import annotations

import re
from pathlib import Path

import mutants
import mutate
import pytest

ROOT = Path(__file__).resolve().parents[1]
KNOWN = mutate.faults()


def test_every_fault_fits_the_code_and_names_tests_that_are_there() -> None:
    assert len(KNOWN) >= 67
    texts = {name: (ROOT / name).read_text("utf-8") for fault in KNOWN for name in (fault.file, *files_of(fault))}
    for fault in KNOWN:
        assert fault.put(texts[fault.file]) != texts[fault.file]
        assert fault.about and fault.tests
        for test in fault.tests:
            name, _, function = test.partition("::")
            wanted = rf"^def {re.escape(function.partition('[')[0])}\(" if function else r"^def test_"
            assert re.search(wanted, texts[name], re.MULTILINE), f"{fault.name}: no test {test}"


def files_of(fault: mutate.Fault) -> list[str]:
    return [test.partition("::")[0] for test in fault.tests]


def fault(**more: object) -> mutate.Fault:
    given = {"name": "one", "file": "lamp.py", "old": "1", "new": "2", "tests": ("test_lamp.py",), "about": "two"}
    return mutate.Fault(**{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(("old", "new"), [("a", "b"), ("x", "y"), ("1", "1")])
def test_a_text_that_is_not_there_once_is_refused(old: str, new: str) -> None:
    with pytest.raises(ValueError, match="one: "):
        fault(old=old, new=new).put("a = 1  # a")


def test_a_fault_is_caught_or_survives_and_is_taken_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # which takes most of the time
    code = "low, high = 1, 5\n"
    (tmp_path / "lamp.py").write_text(code)
    (tmp_path / "test_lamp.py").write_text("import lamp\n\ndef test_low():\n    assert lamp.low == 1\n")
    found = [
        mutate.tried(each, tmp_path, 60.0)
        for each in (fault(), fault(old="5", new="6"), fault(tests=("test_lamp.py::test_high",)))
    ]
    assert [outcome.what for outcome in found] == [mutate.CAUGHT, mutate.SURVIVED, mutate.WRONG]
    assert found[0].said == "test_lamp.py::test_low"
    assert (tmp_path / "lamp.py").read_text() == code


def test_a_seed_draws_the_same_faults_which_fit_their_files(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [ROOT / "tests/film/test_film.py"]
    monkeypatch.setattr(mutants, "nearest_tests", lambda path, count, line: chosen * count if line else [])
    within = ["viewer/film/tonemap.py", "shaders/lib/exact.glsl"]
    first, again, other = (mutants.drawn(12, seed, within, nearest=2) for seed in (5, 5, 6))
    assert first == again != other and len({each["name"] for each in first}) == 12
    assert {each["file"] for each in first} == set(within)
    for each in map(lambda entry: mutate.Fault(**entry), first):
        text = (ROOT / each.file).read_text("utf-8")
        assert each.put(text) != text and each.tests == ("tests/film/test_film.py",) * 2
