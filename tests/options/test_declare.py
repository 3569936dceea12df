"""How options are written: as typed, as Python's keywords, in messages and in docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import raystream
from raystream.base.errors import ViewerError, keywords
from raystream.cli import main as cli
from raystream.film.layers import LAYERS, SERIES
from raystream.options import values
from raystream.options.commands import REMOTE
from raystream.options.declare import (
    MAX_ECHO_LENGTH,
    Affects,
    Help,
    Option,
    Value,
    wrong,
)
from raystream.options.table import OPTIONS
from raystream.options.values import SWITCH as OFF
from raystream.options.values import choice, integer
from raystream.programs.registry import PICTURES

COUNT = Option("a_count", integer(1, 9, 4), Help("how many"), Affects.NOTHING)
SWITCH = Option("a_switch", OFF, Help("does it"), Affects.NOTHING)
WORD = Option("word", choice("one", "two", "3"), Help("which"), Affects.NOTHING)
ABOVE = "a number of metres above {low:g} and below {high:g}"
REAL = Option("real", Value(values.read_optional_open_real, None, "X", ABOVE, 0.5, 2), Help("r"), Affects.NOTHING)
BARE = replace(COUNT, name="bare").with_value(bare="auto").with_help(short="-b")


@pytest.mark.parametrize(
    ("option", "flag", "typed", "expected", "default"),
    [
        (COUNT, "--a-count", "--a-count N", "a whole number from 1 to 9", "4"),
        (SWITCH, "--a-switch", "--a-switch", "", ""),
        (WORD, "--word", "--word NAME", "one, two or 3", "one"),
        (REAL, "--real", "--real X", "a number of metres above 0.5 and below 2", ""),
        (BARE, "--bare", "--bare [N]", "a whole number from 1 to 9", "4"),
        (COUNT.with_value(expected="{low} to {high} of {choices}"), "--a-count", "--a-count N",
         "1 to 9 of the known ones", "4"),
        (WORD.with_value(expected="of {choices}"), "--word", "--word NAME", "of one, two, 3", "one"),
        (COUNT.with_value(default=0.5), "--a-count", "--a-count N", "a whole number from 1 to 9", "0.5"),
        (COUNT.with_value(default=True), "--a-count", "--a-count N", "a whole number from 1 to 9", "on"),
        (COUNT.with_help(default="four"), "--a-count", "--a-count N", "a whole number from 1 to 9", "four"),
    ],
)  # fmt: skip
def test_words(option: Option, flag: str, typed: str, expected: str, default: str) -> None:
    assert (option.flag, option.typed, option.expected(), option.default_words()) == (flag, typed, expected, default)


def test_programs_that_it_serves_are_told() -> None:
    assert COUNT.about == "how many"
    assert COUNT.with_scope(programs=("path",)).about == "how many; in program path"
    assert COUNT.with_scope(programs=("a", "b", "c")).about == "how many; in programs a, b and c"


def test_useful_by_another_option() -> None:
    never = COUNT.with_scope(unless=("word", ("one", "3")))
    assert [never.useful({"word": word}) for word in WORD.value.choices] == [False, True, False]
    assert COUNT.useful({})


def test_wrong_values_are_repeated_to_a_length() -> None:
    for length in (1, MAX_ECHO_LENGTH - 2, MAX_ECHO_LENGTH - 1, 500):
        said = wrong(COUNT, "x" * length, hint="mend it").typed
        text = repr("x" * length)
        shown = text if length + 2 <= 60 else text[:56] + " ..."
        assert said == f"--a-count {shown}: expected a whole number from 1 to 9 (mend it)"
    assert wrong(COUNT, 10, "nine").typed == "--a-count 10: expected nine"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("how many: of them, and of others", 32, "how many: of them, and of others"),
        ("how many: of them, and of others", 31, "how many"),
        ("how many (of them); of others", 18, "how many (of them)"),
        ("how many (of them); of others", 17, "how many"),
        ("how many, of them, and of others", 25, "how many, of them"),
        ("how many of them", 12, "how many ..."),
    ],
)
def test_help_in_a_line(text: str, width: int, expected: str) -> None:
    assert COUNT.with_help(text=text).brief(width) == expected


def test_ports_and_addresses() -> None:
    port, host = REMOTE["remote"], REMOTE["remote_host"]
    for text, expected in (("0", 0), ("65535", 65535), ("8080", 8080), ("auto", "auto")):
        assert port.read(text) == expected
    for bad in ("-1", "65536", "http", "1.5", True):
        with pytest.raises(ViewerError, match="a port from 0 to 65535"):
            port.read(bad)
    for good in ("0.0.0.0", "::1", "render-7.local"):
        assert host.read(good) == good
    for bad in ("", 3, "http://host", "a/b", "a b", "a\tb"):
        with pytest.raises(ViewerError, match="an address of this machine"):
            host.read(bad)


@pytest.mark.parametrize(
    ("options", "python", "typed"),
    [
        ({"depth": -1}, "depth=-1: expected a whole number from 0 to 1024", "--depth '-1': expected a whole number"),
        ({"pixel_filter": "tant"}, "pixel_filter='tant': expected box", "--pixel-filter 'tant': expected box, tent, "),
        (
            {"max_depth": 3},
            "keyword 'max_depth': unknown to Renderer (did you",
            "option '--max-depth': unknown (did you",
        ),
        (
            {"accel": "grid", "traversal": "stack"},
            "traversal='stack': is not a traversal of accel='grid'",
            "--traversal stack: is not a traversal of --accel grid",
        ),
    ],
)
def test_errors_name_an_option_as_it_was_written(options, python, typed, tmp_path, monkeypatch, capsys) -> None:
    with pytest.raises(ViewerError, match="^" + re.escape(python)):
        raystream.Renderer("cornell", **options)
    monkeypatch.chdir(tmp_path)
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert cli.main(("render", "cornell", "-o", "a.png", *words)) == 2
    assert capsys.readouterr().err.startswith(f"raystream: error: {typed}")


@pytest.mark.parametrize(
    ("typed", "python"),
    [
        ("add --machine multipass --fuse none --unroll 1", "add machine='multipass' fuse='none' unroll=1"),
        ("--turntable turns the camera", "turntable=True turns the camera"),
        (
            "give --spp in its place, exposure, or a --grid below 5",
            "give spp= in its place, exposure, or a grid= below 5",
        ),
        ("--size 64x48 or less (--sun 30,20)", "size='64x48' or less (sun=(30, 20))"),
        ("dask worker SCHEDULER --nthreads 1", "dask worker SCHEDULER --nthreads 1"),
        ("`raystream view --size 9` or --denoise oidn", "`raystream view --size 9` or denoise='oidn'"),
        (
            "--x.png: is not a/--depth.exr, --depth5 or --no_option",
            "--x.png: is not a/--depth.exr, --depth5 or --no_option",
        ),
        *((f"needs {name}", f"needs {name}") for name in ("--remote", "--render", "--limit")),  # of one command alone
    ],
)
def test_options_within_a_line(typed: str, python: str) -> None:
    assert keywords(typed) == python and ViewerError("here", typed).typed == f"here: {typed}"


def texts() -> Iterator[str]:
    """Texts of the package, but for docstrings; what is put into them reads {}."""
    for path in Path(raystream.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                yield node.value


def test_words_after_an_option_are_values_of_it() -> None:
    """Where any text is one, such as a file's name, the next word of a sentence would be taken for it."""
    known = {*PICTURES, *LAYERS, *SERIES, "auto", "local"}
    found = 0
    for flag, value in re.findall(r"(?<![\w-])--([a-z-]+) ([a-z][a-z-]*)", "\n".join(texts())):
        option = OPTIONS.get(flag.replace("-", "_"))
        if option is None or option.scope.taker == "command" or option.switch:
            continue
        if keywords(f"{option.flag} {value}") == f"{option.name}={value!r}":
            value_words = re.split(r"\W+", option.value.metavar)
            assert value in {*known, *option.value.choices, *option.value.words, *value_words}, (flag, value)
            found += 1
    assert found > 20
