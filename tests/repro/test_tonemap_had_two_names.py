"""`tonemap` was the option's name and `tone_map` the keyword's: one name, wherever a tone map is chosen."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest
from PIL import Image

from raystream.film import tonemap
from raystream.film.files import image
from raystream.options.table import OPTIONS
from raystream.renderer.sampling.picture import Picture
from raystream.renderer.sequence import save_frames
from raystream.viewport.keymap import ACTIONS
from raystream.viewport.preferences import Preferences


def test_one_name(tmp_path) -> None:
    assert "tonemap" in OPTIONS
    for call in (Picture.save, Picture.srgb8, Picture.png, save_frames):
        assert inspect.signature(call).parameters["tonemap"].default == OPTIONS["tonemap"].value.default, call
    for call in (image.save, tonemap.srgb8):  # which know of no scene: neutral
        assert inspect.signature(call).parameters["tonemap"].default == "none", call
    assert "tonemap" in {field.name for field in fields(Preferences)}
    assert "tonemap.next" in {action.name for action in ACTIONS}
    image.save(tmp_path / "a.png", [[[1.0, 1.0, 1.0]]], tonemap="aces")
    with Image.open(tmp_path / "a.png") as file:
        assert file.info["tonemap"] == "aces"
    with pytest.raises(TypeError, match="tone_map"):
        image.save(tmp_path / "a.png", [[[1.0, 1.0, 1.0]]], **{"tone_map": "aces"})
