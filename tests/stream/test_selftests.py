"""The self-tests of a driver: this one passes them, each kind notices what is wrong, and what is used instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.base import cache_folder
from raystream.stream.compile import source
from raystream.stream.declare.limits import LIMITS
from raystream.stream.gl.device import Device
from raystream.stream.selftest import check as check_module
from raystream.stream.selftest import fallbacks, masks, numbers, textures
from raystream.stream.selftest.check import ABSENT, DIFFERS, FAIL, PASS, examine
from raystream.stream.selftest.fallbacks import (
    CHECKS,
    FORMAT,
    GROUPS,
    apply_fallbacks,
    device_notes,
    driver_build,
    failure,
    fallbacks_for,
    record_result,
)
from raystream.stream.selftest.numbers import FloatFunction

INEXACT = (
    "numbers",
    "float blending",
    "float bits",
    "timer query",
    "early depth test",
    "conditional rendering",
)  # a driver may


@pytest.mark.parametrize("name", CHECKS)
def test_this_driver_passes(device: Device, name: str) -> None:
    found = examine(device, CHECKS[name])
    group = next(group for group, checks in GROUPS.items() if CHECKS[name] in checks)
    allowed = (PASS, ABSENT, DIFFERS) if {name, group} & set(INEXACT) else (PASS, ABSENT)
    assert found.verdict in allowed, found


# -- each notices ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["mask_depth", "mask_kill"])
def test_a_texel_of_another_step_is_noticed(device: Device, mask: str) -> None:
    """As if the driver had written another depth, in one texel."""
    marked = masks.MarkedSteps(device, masks.step_numbers())
    other = marked.steps.copy()
    other[3, 5] = (other[3, 5] + 1) % 14
    marked.state = masks.states(device, other)
    for step in masks.STEPS:
        if mask == "mask_kill" or step == masks.STEPS[0]:
            marked.draw_mask(mask, step)
        marked.write(step)
    assert marked.count_wrong() == 1
    marked.release()


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (FloatFunction("a / b", lambda a, b: a / b * (1 + 2.0**-24), 0.1, 1.0, 2.5), DIFFERS),
        (FloatFunction("a / b", lambda a, b: a / b * (1 + 2.0**-20), 0.1, 1.0, 2.5), FAIL),
        (FloatFunction("sin(a)", lambda a, b: np.sin(a) + 1e-4, -1.0, 1.0, 2.0**-11, absolute=True), DIFFERS),
        (FloatFunction("sin(a)", lambda a, b: np.sin(a) + 1e-3, -1.0, 1.0, 2.0**-11, absolute=True), FAIL),
        (FloatFunction("a / b", lambda a, b: a / b * np.where(b < 0.101, 1 + 2.0**-18, 1), 0.1, 1.0, 2.5), FAIL),
        (FloatFunction("a / (b - b)", lambda a, b: a, 0.1, 1.0, 2.5), FAIL),
    ],
)
def test_wrong_arithmetic_is_noticed(device: Device, made: FloatFunction, verdict: str) -> None:
    assert numbers._accuracy_check(made)(device).verdict == verdict


@pytest.mark.parametrize("precise", [True, False])
def test_simplified_sums_are_noticed(device: Device, monkeypatch: pytest.MonkeyPatch, precise: bool) -> None:
    """Each way of `lib/exact.glsl` taken away; and ``invariant``, which is enough for Mesa 22."""
    read, program_source = source.read_shader, check_module.source

    def plain(name: str) -> str:
        text = read(name)
        return text.replace("#define EXACT precise", "#define EXACT").replace("((x) * exact_one)", "(x)")

    def variant(*arguments: Any, **constants: float) -> source.Source:
        made = program_source(*arguments, **constants)
        made.lines = [(line.replace("invariant ", ""), origin) for line, origin in made.lines]
        return made

    monkeypatch.setattr(check_module, "source", variant)
    check = numbers.compensated_sums(precise)
    assert check(device).verdict in (PASS, ABSENT)
    monkeypatch.setattr(source, "read_shader", plain)
    assert check(device).verdict in ((FAIL,) if device.has_precise or not precise else (ABSENT,))


def test_a_driver_that_ignores_precise_gets_products(device: Device) -> None:
    other = Device(device.context, distrusted=frozenset({fallbacks.PRECISE}))
    fallbacks.apply_fallbacks(other)
    assert not other.precise and "products" in " ".join(fallbacks.device_notes(other))
    trusted = Device(device.context)
    fallbacks.apply_fallbacks(trusted)
    assert trusted.precise == device.has_precise


def test_rounded_textures_are_noticed(device: Device) -> None:
    """Floats of 24 bits, as in graphics hardware of 2004."""
    found = textures.float_bits(Device(device.context, limits=LIMITS["2004"]))
    assert found.verdict == FAIL and "normal numbers" in found.text


# -- figures -----------------------------------------------------------------------------------------------------------


MASK, QUERIES = "depth mask", "occlusion queries"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of a test."""
    monkeypatch.setenv(cache_folder.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache" / "drivers"


def distrusting(device: Device, *names: str) -> Device:
    return Device(device.context, distrusted=frozenset(names))


@pytest.mark.parametrize(
    ("asked", "distrusted", "wanted"),
    [
        (("multipass", "depth", "query"), (), ("multipass", "depth", "query")),
        (("multipass", "depth", "query"), (MASK,), ("multipass", "kill", "query")),
        (("multipass", "depth", "query"), (MASK, "kill mask"), ("multipass", "none", "query")),
        (("multipass", "stencil", "query"), ("stencil mask",), ("multipass", "depth", "query")),
        (("multipass", "tiles", "query"), (QUERIES,), ("multipass", "none", "census")),
        (("multipass", "depth", "query"), ("conditional rendering",), ("multipass", "depth", "census")),
        (("multipass", "depth", "query"), ("multipass",), ("singlepass", "depth", "query")),
        (("singlepass", "depth", "query"), ("singlepass", MASK), ("multipass", "kill", "query")),
        (("singlepass", "depth", "query"), (MASK, QUERIES), ("singlepass", "depth", "query")),
        (("multipass", "depth", "query"), ("multipass", "singlepass"), ("multipass", "depth", "query")),
    ],
)
def test_the_next_way_that_works(device: Device, asked, distrusted, wanted) -> None:
    found = fallbacks_for(distrusting(device, *distrusted), *asked)
    assert (found.machine, found.mask, found.count) == wanted
    changes = sum(one != other for one, other in zip(asked, wanted, strict=True))
    assert len(found.notes) == max(changes, set(distrusted) >= {"multipass", "singlepass"})
    for note in found.notes:
        assert note.startswith(f"{device.name} fails the self-test of '") and "raystream doctor" in note


def test_a_device_does_without_barrier_and_buffers(device: Device) -> None:
    other = distrusting(device, "texture barrier", "buffer textures")
    if other.texture_barrier is None or not other.max_buffer:
        pytest.skip("this driver has no barrier, or no large buffer textures")
    apply_fallbacks(other)
    assert other.texture_barrier is None and other.max_buffer == 0
    assert ["copy" in note or "textures" in note for note in device_notes(other)] == [True, True]
    plain = distrusting(device)
    apply_fallbacks(plain)
    assert plain.texture_barrier is not None and plain.max_buffer and not device_notes(plain)


def test_passed_tests_run_once_for_a_driver(device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def counted(held: Device, check: object) -> object:
        ran.append(check)
        return examine(held, check)

    from raystream.stream.selftest import fallbacks

    examine = fallbacks.examine
    monkeypatch.setattr(fallbacks, "examine", counted)
    first, second, third = (distrusting(device) for _ in range(3))
    assert failure(first, MASK) == "" and failure(first, MASK) == "" and len(ran) == 1
    assert failure(second, MASK) == "" and len(ran) == 1
    assert failure(second, QUERIES) == "" and len(ran) == 2
    (file,) = folder.iterdir()
    assert json.loads(file.read_text()) == {"format": FORMAT, "driver": device.driver, "passed": [MASK, QUERIES]}
    file.write_text("{")  # damaged: all run again
    assert failure(third, MASK) == "" and len(ran) == 3
    assert json.loads(file.read_text())["passed"] == [MASK]
    distrusted = distrusting(device, MASK)
    assert failure(distrusted, MASK) and len(ran) == 4  # kept, and counted as failed here
    assert json.loads(file.read_text())["passed"] == [MASK]


def test_a_failure_takes_a_test_from_those_passed(device: Device) -> None:
    record_result(device, MASK)
    record_result(device, QUERIES)
    record_result(device, MASK, fails=True)
    assert fallbacks.load_passed(device) == {QUERIES}


def test_another_build_of_a_driver_is_another(device: Device) -> None:
    other = distrusting(device)
    assert driver_build(other) == driver_build(device)
    other.info = {**other.info, "GL_VERSION": "4.5 Mesa 99"}
    assert driver_build(other) != driver_build(device)
    third = distrusting(device)
    third.extensions -= {"GL_ARB_texture_barrier"}
    assert driver_build(third) != driver_build(device)
