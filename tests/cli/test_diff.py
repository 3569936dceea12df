"""``raystream diff``: exit codes, what it prints, its page, and two renders."""

from __future__ import annotations

import json

import numpy as np
import pytest
from calls import error_line, run

from raystream.film.files import compare as figures
from raystream.film.files.compare import INSTALL
from raystream.film.files.image import save

SMALL = "cornell --size 8x8 --spp 2 --machine singlepass"
LIMITED = ("--figure", "largest", "--limit", "0.1")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """a.exr and b.exr, of which one pixel differs by 0.25; c.exr of another size."""
    monkeypatch.chdir(tmp_path)
    picture = np.full((4, 6, 3), 0.5, np.float32)
    save("a.exr", picture, {"depth": picture[..., 0]})
    picture[1, 2] += 0.25
    save("b.exr", picture, {"depth": picture[..., 0]})
    save("c.exr", picture[:2])
    return tmp_path


def test_exit_codes(files, capsys):
    run("diff", "a.exr", "b.exr")
    run("diff", "a.exr", *LIMITED, "b.exr", code=1)
    assert "largest difference: 0.25, beyond the limit of 0.1" in capsys.readouterr().out
    run("diff", "a.exr", "b.exr", *LIMITED[:-1], "0.25")
    run("diff", "a.exr", "b.exr", "--layer", "depth", *LIMITED, code=1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("a.exr",), "diff: 1 picture, and two are compared"),
        (("a.exr", "c.exr"), "c.exr: is 6 x 2 pixels, and a.exr 6 x 4"),
        (("a.exr", "b.exr", "--figure", "flop"), "expected flip, error, largest, share, specks, holes or fringes"),
        (("a.exr", "b.exr", "--layer", "normal"), "a.exr: holds no layer 'normal' (its layers: depth)"),
        (("a.exr", "b.exr", "--layer", "depth", "--limit", "1"), "--figure flip: is of pictures, not of a layer"),
        (("a.exr", "b.exr", "--layer", "depth", "--limit", "1", "--figure", "holes"), "--figure holes: is of pictures"),
        (("a.exr", "b.exr", "--limit", "1", "--figure", "fringes"), "a.exr: holds no layer object or material"),
        (("a.exr", "b.exr", "-o", "report.png"), "report.png: the report is a page"),
        (("a.exr", "--render", "cornell -o x.png"), "--output: has no place in --render"),
        (("a.exr", "--render", "'cornell"), "no closing quotation"),
        (("a.exr", "--render", "--size 8x8"), "render: the scene is missing"),
    ],
)
def test_refusals_of_one_line(files, capsys, arguments, line):
    run("diff", *arguments, code=2)
    assert line in error_line(capsys)


def test_without_the_evaluator(files, capsys, monkeypatch):
    monkeypatch.setattr(figures, "has_flip", lambda: False)
    run("diff", "a.exr", "b.exr", "--limit", "1", code=2)
    assert INSTALL in error_line(capsys)
    run("diff", "a.exr", "b.exr", *LIMITED, code=1)
    assert INSTALL in capsys.readouterr().out


def test_data(files, capsys):
    run("diff", "a.exr", "b.exr", *LIMITED, "--json", code=1)
    told = json.loads(capsys.readouterr().out)
    assert told["pictures"] == ["a.exr", "b.exr"] and told["at"] == [2, 1] and told["within"] is False
    assert told["largest"] == 0.25 and told["share"] == 1 / 24 and told["size"] == [6, 4]


def test_renders(files, capsys):
    """Two machines give one picture; a file is compared with what it was rendered from."""
    run("diff", "--render", SMALL, "--render", SMALL.replace("singlepass", "multipass"), *LIMITED[:-1], "0")
    run("render", *SMALL.split(), "-o", "d.png", "--quiet")
    capsys.readouterr()
    run("diff", "d.png", "--render", f"{SMALL} --seed 1", "--figure", "share", "--limit", "0.1", "--json", code=1)
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "displayed" and told["pictures"][1] == f"render of {SMALL} --seed 1"
    run("diff", "a.exr", "--render", SMALL.replace("8x8", "6x4"), "--layer", "depth", "--quiet")
    run("diff", "d.png", "--render", SMALL, "--figure", "fringes", "--limit", "0")  # its layers are rendered, too


@pytest.mark.parametrize("ending", ["exr", "npz"])
def test_blemishes(files, capsys, ending):
    """The second picture's, as displayed; fringes beside edges of the first one's ids."""
    picture, ids = np.full((6, 8, 3), 0.25, np.float32), np.zeros((6, 8), np.int32)
    ids[:, 6:] = 1
    save(f"d.{ending}", picture, {"object": ids, "material": 0 * ids})
    picture[2, 1] = 0
    picture[3, 6] = 0.5, 0.2, 0.2
    picture[1, 3] = 0.5, 0.2, 0.2  # too far from the edge for a fringe
    save("e.exr", picture)
    run("diff", f"d.{ending}", "e.exr", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["specks"], told["holes"], told["fringes"]) == (3 / 48, 1 / 48, 1 / 48)
    run("diff", "e.exr", f"d.{ending}", "--json")  # the other way round: what is missing is no blemish
    told = json.loads(capsys.readouterr().out)
    assert (told["specks"], told["holes"], told["fringes"]) == (0, 0, 1 / 48)
    run("diff", f"d.{ending}", "e.exr", "--figure", "specks", "--limit", "0.07")
    run("diff", f"d.{ending}", "e.exr", "--figure", "fringes", "--limit", "0.02", code=1)
    said = capsys.readouterr().out
    assert "holes               2.08% of the pixels" in said and "fringes: 0.02083, beyond the limit of 0.02" in said


def test_a_moment_of_an_animation(files, capsys):
    """The picture of a moment is the one rendered for it, and no other."""
    command = "balls --size 8x8 --program cast --machine singlepass"
    run("render", *command.split(), "--moment", "0.5", "-o", "m.exr", "--quiet")
    run("diff", "m.exr", "--render", f"{command} --moment 0.5", *LIMITED[:-1], "0", "--quiet")
    run("diff", "m.exr", "--render", command, *LIMITED[:-1], "0", "--quiet", code=1)
