"""Settings as a value: what changes of options affect, what Python's help and editors see."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.base.errors import keywords as in_python
from raystream.options.declare import Affects, join_words
from raystream.options.table import OPTIONS, keywords
from raystream.programs import PICTURES
from raystream.renderer.inputs.settings import NAMES, Settings


def test_settings_are_one_value() -> None:
    plain = Settings()
    assert dict(plain) == {name: OPTIONS[name].value.default for name in NAMES}
    other = plain.replace(depth="7", policy="threshold=0.5")
    assert other.depth == 7 and other["policy"].share == 0.5 and plain.depth is None
    assert other != plain and other.replace(depth=None, policy="sweep") == plain
    assert hash(plain) == hash(Settings()) and len({plain, Settings(), other}) == 2
    assert plain.replace(depth=None) is plain
    assert pickle.loads(pickle.dumps(other)) == other
    assert repr(other) == "Settings(depth=7, policy=PolicyChoice(name='threshold', share=0.5, of='active'))"
    assert plain.differences(other) == {"depth": Affects.UNIFORMS, "policy": Affects.NOTHING}
    with pytest.raises(AttributeError, match="replace"):
        plain.depth = 3
    with pytest.raises(AttributeError, match="no attribute 'deph'"):
        _ = plain.deph
    with pytest.raises(ViewerError, match=r"keyword 'deph': unknown.*'depth'"):
        plain.replace(deph=3)
    with pytest.raises(ViewerError, match=r"^depth=-1"):
        Settings(depth=-1)


def test_every_option_says_what_it_affects() -> None:
    for name, option in OPTIONS.items():
        assert isinstance(option.affects, Affects), name
    assert all(OPTIONS[name].affects == Affects.STRUCTURE for name in NAMES if OPTIONS[name].scope.taker == "prepare")
    # Of Whitted's tracer the number of streams follows from the depth.
    whitted = Settings(program="whitted")
    assert whitted.differences(whitted.replace(depth=2)) == {"depth": Affects.PROGRAM}
    assert whitted.differences(whitted.replace(depth=whitted.max_depth)) == {"depth": Affects.UNIFORMS}


@pytest.mark.parametrize(
    ("change", "again", "affects"),
    [
        ({"final_gather": 1}, {"final_gather": 2}, Affects.UNIFORMS),
        ({"final_gather": 1}, {"final_gather": 0}, Affects.PROGRAM),
        ({"estimate": "nearest"}, {"estimate": "published"}, Affects.UNIFORMS),
        ({"estimate": "nearest"}, {"estimate": "progressive"}, Affects.PROGRAM),
        ({}, {"photon_map": "stencil"}, Affects.PROGRAM),
        ({}, {"photons": 5}, Affects.UNIFORMS),
    ],
    ids=str,
)
def test_what_the_program_is_wired_by_is_compiled(
    change: dict[str, Any], again: dict[str, Any], affects: Affects
) -> None:
    """Of options that are uniforms else: whether their values make another program."""
    before = Settings(program="photon", **change)
    after = before.replace(**again)
    assert before.differences(after) == dict.fromkeys(again, affects)
    assert (before.form() != after.form()) == affects.compiles


def test_help_explains_every_option() -> None:
    for documented, names in ((Renderer, NAMES), (Renderer.render, keywords("render"))):
        text = " ".join((documented.__doc__ or "").split())
        for name in names:
            option = OPTIONS[name]
            told = f"{name} : {option.about}. " + ("" if name in ("program", "layers") else option.expected())
            assert in_python(told) in text and in_python(option.default_words()) in text
        assert "--" not in text  # Python has keywords
    assert f"{join_words(list(PICTURES))}; default: path." in (Renderer.__doc__ or "")


def test_editors_see_every_option() -> None:
    found = inspect.signature(Renderer).parameters
    assert list(found)[:4] == ["scene", "settings", "device", "progress"] and set(NAMES) <= set(found)
    defaults = {name: found[name].default for name in NAMES if name != "device"}
    assert Settings(**defaults) == Settings()
    assert "unknown" not in inspect.signature(Renderer.render).parameters
