"""Values that look like options: numbers below zero, however they are written."""

from __future__ import annotations

import pytest

from raystream.base.errors import ViewerError
from raystream.cli.main import _join_values, _parse, _parser


@pytest.mark.parametrize("value", ["-0.5", "-.5", "-12", "-1e1"])
def test_a_negative_number_belongs_to_the_option_before_it(value: str) -> None:
    found = _parse("render", ["cornell", "-o", "a.png", "--environment-rotation", value, "--exposure", value])
    assert found.environment_rotation == found.exposure == float(value)
    assert _parse("render", ["cornell", "-o", "a.png", f"--exposure={value}"]).exposure == float(value)


def test_a_camera_may_begin_with_a_point() -> None:
    assert _parse("view", ["cornell", "--camera", "-.5,0,1 0,-.5,0"]).camera == "-.5,0,1 0,-.5,0"


def test_options_stay_options() -> None:
    parser = _parser("render")
    for words in (["--exposure", "-o", "a.png"], ["--quiet", "-1"], ["-o", "-1"], ["scene", "-.5"]):
        assert _join_values(words, parser) == words
    assert _join_values(["--exposure", "-.5", "-1"], parser) == ["--exposure=-.5", "-1"]


@pytest.mark.parametrize("value", ["-1", "-5e3", "inf", "-inf", "nan", "0", "1e999"])
def test_a_wrong_number_is_the_value_of_an_option_that_may_stand_alone(value: str) -> None:
    with pytest.raises(ViewerError, match=f"ortho='{value}'"):
        _parse("render", ["cornell", "-o", "a.png", "--ortho", value])


def test_a_scene_behind_an_option_that_may_stand_alone_stays_one() -> None:
    found = _parse("render", ["-o", "a.png", "--ortho", "12.glb"])
    assert found.ortho == "auto" and found.scenes == ["12.glb"]
