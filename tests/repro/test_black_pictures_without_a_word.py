"""Files with dim or far lights gave black pictures, and nothing was said: no default sky where something shines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

import raystream
from raystream.cli import main as cli
from raystream.film.tonemap import BLACK_LUMINANCE, darkness
from raystream.renderer.sampling.picture import Picture
from raystream.scene.light import Light

SMALL = ("--size", "12x8", "--spp", "1", "--depth", "1", "--machine", "singlepass")


@pytest.fixture
def dim(tmp_path, monkeypatch) -> Any:
    """A floor below a lamp far too dim for it: 0.03 W/sr where some 50 would do."""
    scene = raystream.Scene.from_triangles([[-9, 0, 9], [9, 0, 9], [0, 0, -9]], [[0, 1, 2]], name="dim")
    scene.lights = [Light("point", "lamp", (0, 5, 0), intensity=(0.03, 0.03, 0.03))]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("raystream.formats.named.load", lambda _, **options: scene)


@pytest.mark.usefixtures("device", "dim")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "a.png", "--exposure", "0"), "nearly black"),
        (("-o", "a.exr"), "nearly black"),
        (("--frames", "0-1", "--turntable", "-o", "%d.png"), "stops brighter"),
        (("-o", "a.png"), "stops brighter"),
        (("-o", "a.png", "--exposure", "14"), ""),
        (("-o", "a.png", "--environment", "none"), ""),  # darkness was asked for
        (("-o", "a.png", "--environment", "sky"), ""),
        (("-o", "a.png", "--program", "cast"), ""),  # it has a light of its own
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_note(words, said, capsys) -> None:
    above = ("--camera", "0,4,0 0,0,0 0,0,-1")
    assert cli.main(("render", "dim", *words, *SMALL, *above)) == 0
    err = capsys.readouterr().err
    assert err.count("own lights") == bool(said) and said in err
    if said:
        assert "(--environment sky" not in err and "--environment sky adds light, --exposure " in err
    if words == ("-o", "a.png"):
        with Image.open("a.png") as file:
            assert 60 < np.asarray(file).mean() < 160 and "auto" in file.info["exposure"]


@pytest.mark.usefixtures("device", "dim")
def test_a_scene_whose_lights_show_nothing_stands_under_the_sky(capsys) -> None:
    """Seen from below its floor; where an exposure is asked for, or linear radiance, it stays as it is."""
    below = ("--camera", "0,-4,0 0,0,0 0,0,-1", "-o")
    for words, filled in ((("a.png",), True), (("b.png", "--exposure", "3"), False), (("c.exr",), False)):
        assert cli.main(("render", "dim", *SMALL, *below, *words)) == 0
        assert ("show nothing here" in capsys.readouterr().err) == filled
    with Image.open("a.png") as filled, Image.open("b.png") as black:
        assert np.asarray(filled).mean() > 60 and not np.asarray(black).any()


@pytest.mark.usefixtures("device", "dim")
@pytest.mark.parametrize("told", [("dark", "dark"), ("dark", ""), ("", "dark"), ("", "")])
def test_frames_that_fade_are_meant_to(told, capsys, monkeypatch) -> None:
    """What all of them are is said once, of the first."""
    left = [[f"{word} frame {k}"] if word else [] for k, word in enumerate(told)]

    def remarks(picture: Picture, exposure: float | str | None = None) -> list[str]:
        return [] if exposure is None else left.pop(0)  # without one for developers

    monkeypatch.setattr(Picture, "remarks", remarks)
    assert cli.main(("render", "dim", *SMALL, "--frames", "0-1", "--turntable", "-o", "%d.png")) == 0
    err = capsys.readouterr().err
    assert ("dark frame 0" in err) == all(told) and "dark frame 1" not in err and not left


def test_what_is_nearly_black() -> None:
    picture = np.zeros((10, 10, 3), np.float32)
    assert "sky adds light, a higher --exposure brightens" in darkness(picture)
    picture[:2] = BLACK_LUMINANCE / 4
    assert "--exposure 9 brightens" in darkness(picture) and darkness(picture, 1.9)  # 0.5 / 0.00125 is 400
    assert not darkness(picture, 2.1)
    picture[0, :5] = 1  # a lamp that is seen, in the dark
    assert "a higher --exposure brightens" in darkness(picture)
    picture[:2] = np.inf, np.nan, 0
    assert not darkness(np.ones((4, 4, 3), np.float32)) and darkness(np.full((4, 4, 3), np.nan, np.float32))
