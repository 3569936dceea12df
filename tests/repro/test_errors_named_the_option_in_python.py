"""Errors said `--depth` to those who had written ``depth=``; the command line and Python each have their own names."""

from __future__ import annotations

import re

import pytest

import viewer
from viewer.base.errors import ViewerError
from viewer.cli import main as cli

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
        "traversal=stack: is not a traversal of accel grid",
        "--traversal stack: is not a traversal of --accel grid",
    ),
]


@pytest.mark.parametrize(("options", "python", "typed"), WRONG, ids=[next(iter(options)) for options, *_ in WRONG])
def test_each_by_its_own_name(options, python, typed, tmp_path, monkeypatch, capsys) -> None:
    with pytest.raises(ViewerError, match="^" + re.escape(python)):
        viewer.Renderer("cornell", **options)
    monkeypatch.chdir(tmp_path)
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert cli.main(("render", "cornell", "-o", "a.png", *words)) == 2
    assert capsys.readouterr().err.startswith(f"raystream: error: {typed}")


def test_keywords_of_another_call() -> None:
    for name, line in (("spp", "belongs to Renderer.render, not to Renderer"), ("tonemap", "belongs to Picture.save")):
        with pytest.raises(ViewerError, match=f"^keyword '{name}': {line}"):
            viewer.Renderer("cornell", **{name: 3})


def test_keywords_of_render(device) -> None:
    renderer = viewer.Renderer("cornell", device=device)
    for name, line in (
        ("program", "belongs to Renderer and its update, not to render"),
        ("layer", r"unknown to render \(did you mean 'layers'\?\)"),
    ):
        with pytest.raises(ViewerError, match=f"^keyword '{name}': {line}"):
            renderer.render(**{name: "cast"})
    with pytest.raises(ViewerError, match=r"^layers=bounce: program cast adds no samples \(take program path\)"):
        renderer.update(program="cast")
        renderer.render(layers="bounce")


def test_names_of_files_are_left_alone() -> None:
    error = ViewerError("--x.png", "is not a/--depth.exr, --depth5 or --no_option", "take --first-hits rays")
    assert str(error) == "--x.png: is not a/--depth.exr, --depth5 or --no_option (take first_hits rays)"
    assert error.typed.endswith("(take --first-hits rays)")
