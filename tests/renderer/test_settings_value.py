"""Settings as a value: what changes of options affect, and what a state must agree in to be gone on with."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.options.declare import Affects
from raystream.options.table import OPTIONS
from raystream.renderer.inputs.settings import NAMES, Settings
from raystream.renderer.sampling.picture_metadata import sample_settings


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


SINGLE: dict[str, Any] = {"machine": "singlepass", "aperture": 0.1, "focus": 3.0}
PLANES: dict[str, Any] = {"intersection": "planes"}
EFFECTS = ("shadows", "reflections", "refractions")  # of whitted


@pytest.fixture(scope="module")
def renderer(device: Any) -> Iterator[Renderer]:
    made = Renderer(raystream.load("cornell"), device=device, **SINGLE)
    yield made
    made.release()


@pytest.mark.parametrize(
    ("given", "change", "names"),
    [
        ({}, {"focus": 3.5}, {"lens"}),
        ({}, {"aperture": 0.2}, {"lens"}),
        ({"aperture": 0.0}, {"focus": 3.5}, set()),  # a pinhole has no focus
        ({}, {"fov": 30.0}, {"fov"}),
        ({}, PLANES, {"intersection"}),
        (PLANES, {"plane_slack": 1.004}, {"intersection"}),
        ({}, {"plane_slack": 1.004}, set()),  # the watertight test has none
        ({}, {"accel": "grid"}, set()),
        ({}, {"back_faces": "shown"}, set()),  # no material culls
        ({}, {"seed": 3}, {"seed"}),
        ({}, {"sampler": "independent"}, {"sampler"}),
        ({}, {"camera": "0.1,1,3 0,1,0 0,1,0"}, {"camera", "fov"}),  # not the file's
        ({}, {"accel": "two-level-bvh"}, {"levels"}),
        ({}, {"machine": "multipass"}, set()),
        ({}, {"program": "whitted"}, {"program", "depth", "strategy", "roulette", *EFFECTS}),
        ({"program": "whitted"}, {"strategy": "bsdf", "roulette": 3}, set()),  # for path alone
        ({"program": "whitted"}, {"shadows": False}, {"shadows"}),
        ({"program": "whitted"}, {"min_intensity": 0.1}, {"min_intensity"}),
        ({}, {"min_intensity": 0.1}, set()),  # Whitted's
        ({}, {"environment": (1, 1, 1)}, {"environment", "content"}),
        ({}, {"roulette": 3}, {"roulette"}),
        ({"depth": None}, {"depth": 16}, {"roulette"}),  # who asks for a depth gets all of it
        ({"depth": None}, {"depth": 16, "roulette": 5}, set()),
    ],
    ids=lambda value: " ".join(sorted(value)) if isinstance(value, set) else str(value),
)
def test_what_differs_is_named(
    renderer: Renderer, given: dict[str, Any], change: dict[str, Any], names: set[str]
) -> None:
    before = renderer.settings
    try:
        renderer.update(**given)
        first = sample_settings(renderer)
        renderer.update(**change)
        second = sample_settings(renderer)
    finally:
        renderer.update(settings=before)
    assert {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)} == names


def test_of_culled_scenes_the_back_faces_are_a_fact(device: Any) -> None:
    scene = raystream.Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    scene.materials = [raystream.Material(backface_culling=True)]
    made = Renderer(scene, device=device, program="path", **SINGLE)
    first = sample_settings(made)
    assert first["back_faces"] == "culled"
    made.update(back_faces="shown")
    assert sample_settings(made) == {**first, "back_faces": "shown"}
    made.release()


def test_files_that_tell_of_options_of_other_programs_go_on(device: Any, tmp_path: Path) -> None:
    """As those did that were written when every picture told of every option."""
    drawn = Renderer(raystream.load("cornell"), device=device, program="whitted", machine="singlepass")
    one, both = (drawn.render((8, 8), spp=spp) for spp in (1, 2))
    assert "strategy" not in one.depends and one.depends["shadows"] == "True"
    one.depends |= {"strategy": "both", "roulette": "None"}
    one.save(tmp_path / "older.exr")
    again = drawn.render((8, 8), spp=2, resume=str(tmp_path / "older.exr"))
    assert np.array_equal(again.linear, both.linear)
    one.depends["shadows"] = "False"
    one.save(tmp_path / "other.exr")
    with pytest.raises(ViewerError, match="was rendered with shadows 'False', not 'True'"):
        drawn.render((8, 8), spp=2, resume=str(tmp_path / "other.exr"))
    drawn.release()
