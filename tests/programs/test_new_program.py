"""A new program is its kernels, its wiring and its test: all else of the house knows it from its record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from new_program import CAPTION, HELP, KEY, NAME

from raystream.options.declare import join_words
from raystream.programs import PICTURES, PictureProgram, ray_cast, register


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process knows in which the program has been registered."""
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("new_program.py"))]
    done = subprocess.run(
        [*command, str(tmp_path_factory.mktemp("new"))], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_command_line_knows_it(told: Any) -> None:
    line = told["line"]
    assert join_words((*PICTURES, NAME)) in line["help"]
    code, drawing, _ = line["graph"]
    assert code == 0 and f"<title>{NAME}: {CAPTION}" in drawing
    code, _, notes = line["rendered"]
    assert code == 0 and f"program {NAME} makes no use of --strategy\n" in notes


def test_both_machines_make_one_picture(told: Any) -> None:
    bits = told["pictures"]["bits"]
    assert bits["single"] == bits["multi"] == bits["path"] and set(bits["single"]) != {"0"}


def test_facts_are_those_of_its_options(told: Any) -> None:
    found = told["pictures"]
    assert found["metadata"]["program"] == found["depends"]["program"] == NAME
    assert {"seed", "sampler", "clamp", "depth"} <= found["depends"].keys()
    assert not {"strategy", "roulette", "shadows", "photons"} & found["depends"].keys()


def test_keys_page_and_inspector_know_it(told: Any) -> None:
    view = told["view"]
    assert view["action"] == [HELP, [KEY]] and f"| `{KEY}` | {HELP} | `program.{NAME}` |" in view["keys"]
    assert view["chosen"] == NAME  # by its key
    assert f'<option value="{NAME}">' in view["page"] and f'<button name="program.{NAME}">' in view["page"]
    assert {"path.throughput", "film.sum"} & set(view["channels"])


def test_a_denoiser_that_divides_by_the_albedo_is_refused(told: Any) -> None:
    """Unless the program says that its film is albedo times light, nothing is assumed."""
    code, _, error = told["line"]["denoised"]
    assert code == 2 and error.count("\n") == 1
    assert error.startswith(
        "raystream: error: --denoise shader: divides by the albedo, and the film of program emission"
    )


def test_names_keys_and_options_are_checked() -> None:
    known = dict(PICTURES)
    for wrong, words in (
        (PictureProgram("cast", ray_cast, "", ""), "cast and cast"),
        (PictureProgram("other", ray_cast, "", "", key="1"), "one key 1"),
        (PictureProgram("other", ray_cast, "", "", options=("stategy",)), "no options stategy"),
    ):
        with pytest.raises(ValueError, match=words):
            register(wrong)
    assert known == PICTURES


def test_a_program_may_ask_for_options_of_others() -> None:
    plain = PictureProgram("other", PICTURES["path"].make, "", "")
    asking = PictureProgram("other", PICTURES["path"].make, "", "", options=("strategy",))
    assert not plain.uses("strategy") and asking.uses("strategy") and not asking.uses("roulette")
    assert not PictureProgram("other", ray_cast, "", "", options=("strategy",)).uses("strategy")  # it has no samples
