"""Errors said `--depth` to those who had written ``depth=``, and "take program path" to all of Python;
the command line and Python each write an option in their own way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import raystream
from raystream.base.errors import ViewerError, keywords
from raystream.cli import main as cli
from raystream.film.layers import LAYERS, SERIES
from raystream.options import commands
from raystream.options.declare import Option, wrong
from raystream.options.table import OPTIONS
from raystream.programs.registry import PICTURES

FOLDER = Path(raystream.__file__).parent

WRONG = [
    ({"depth": -1}, "depth=-1: expected a whole number from 0 to 1024", "--depth '-1': expected a whole number"),
    (
        {"pixel_filter": "tant"},
        "pixel_filter='tant': expected box, tent, gaussian or point (did you mean 'tent'?)",
        "--pixel-filter 'tant': expected box, tent, gaussian or point (did you mean 'tent'?)",
    ),
    (
        {"max_depth": 3},
        "keyword 'max_depth': unknown to Renderer (did you mean 'depth'?)",
        "option '--max-depth': unknown (did you mean '--depth'?)",
    ),
    (
        {"accel": "grid", "traversal": "stack"},
        "traversal='stack': is not a traversal of accel='grid'",
        "--traversal stack: is not a traversal of --accel grid",
    ),
]


@pytest.mark.parametrize(("options", "python", "typed"), WRONG, ids=[next(iter(options)) for options, *_ in WRONG])
def test_each_by_its_own_name(options, python, typed, tmp_path, monkeypatch, capsys) -> None:
    with pytest.raises(ViewerError, match="^" + re.escape(python)):
        raystream.Renderer("cornell", **options)
    monkeypatch.chdir(tmp_path)
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert cli.main(("render", "cornell", "-o", "a.png", *words)) == 2
    assert capsys.readouterr().err.startswith(f"raystream: error: {typed}")


def test_keywords_of_another_call() -> None:
    for name, line in (("spp", "belongs to Renderer.render, not to Renderer"), ("tonemap", "belongs to Picture.save")):
        with pytest.raises(ViewerError, match=f"^keyword '{name}': {line}"):
            raystream.Renderer("cornell", **{name: 3})


def test_keywords_of_render(device) -> None:
    renderer = raystream.Renderer("cornell", device=device)
    for name, line in (
        ("program", "belongs to Renderer and its update, not to render"),
        ("layer", r"unknown to render \(did you mean 'layers'\?\)"),
    ):
        with pytest.raises(ViewerError, match=f"^keyword '{name}': {line}"):
            renderer.render(**{name: "cast"})
    with pytest.raises(ViewerError, match=r"^layers='bounce': program cast adds no samples \(take program='path'\)"):
        renderer.update(program="cast")
        renderer.render(layers="bounce")


def test_names_of_files_are_left_alone() -> None:
    error = ViewerError("--x.png", "is not a/--depth.exr, --depth5 or --no_option", "take --first-hits rays")
    assert str(error) == "--x.png: is not a/--depth.exr, --depth5 or --no_option (take first_hits='rays')"
    assert error.typed.endswith("(take --first-hits rays)")


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_every_option_is_named_as_it_is_written(option: Option) -> None:
    error = wrong(option, {3}, "another", f"without {option.flag}, or `raystream view {option.flag}`")
    typed = f"{option.flag} {{3}}: expected another (without {option.flag}, or `raystream view {option.flag}`)"
    name = option.flag if option.scope.taker == "command" else f"{option.name}={'True' if option.switch else ''}"
    python = f"{option.name}={{3}}: expected another (without {name}, or `raystream view {option.flag}`)"
    assert (error.typed, str(error)) == (typed, typed if option.scope.taker == "command" else python)
    given = option.default_words()
    if given and " " not in given and option.value.default is not None and option.scope.taker != "command":
        written = keywords(f"take {option.flag} {given}, or none")
        assert written.startswith(f"take {option.name}=") and written.endswith(", or none")
        value = ast.literal_eval(written.removeprefix(f"take {option.name}=").removesuffix(", or none"))
        assert option.read(value) == option.read(given)


@pytest.mark.parametrize(
    ("typed", "python"),
    [
        ("take fewer --photons, --caustic-photons or --sun", "take fewer photons=, caustic_photons= or sun="),
        ("add --machine multipass --fuse none --unroll 1", "add machine='multipass' fuse='none' unroll=1"),
        ("--turntable turns the camera", "turntable=True turns the camera"),
        (
            "give --spp in its place, --exposure -1.5, or a --grid below 5",
            "give spp= in its place, exposure=-1.5, or a grid= below 5",
        ),
        ("--size 64x48 or less (--sun 30,20)", "size='64x48' or less (sun=(30, 20))"),
        ("go on with --resume '/a b/c.exr'", "go on with resume='/a b/c.exr'"),
        ("dask worker SCHEDULER --nthreads 1", "dask worker SCHEDULER --nthreads 1"),
        (
            "`raystream view --environment sky` or --denoise oidn",
            "`raystream view --environment sky` or denoise='oidn'",
        ),
    ],
)
def test_options_within_a_line(typed: str, python: str) -> None:
    assert keywords(typed) == python and ViewerError("here", typed).typed == f"here: {typed}"


def texts() -> Iterator[str]:
    """Texts of the package, but for docstrings; what is put into them reads {}."""
    for path in FOLDER.rglob("*.py"):
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
            known_here = {*known, *option.value.choices, *option.value.words, *value_words}
            assert value in known_here, (flag, value)
            found += 1
    assert found > 20


@pytest.mark.parametrize(
    "option", [*commands.REMOTE.values(), *commands.COMPARE.values()], ids=lambda option: option.name
)
def test_other_commands_options_stay_as_typed(option: Option) -> None:
    if option.name not in OPTIONS:
        assert keywords(f"needs {option.flag}") == f"needs {option.flag}"
        assert str(wrong(option, 3, "another")) == f"{option.flag} 3: expected another"
