"""What a driver that fails a self-test gets instead, and what is kept of those that it passes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raystream.base import cache_folder
from raystream.stream.gl.device import Device
from raystream.stream.selftest import fallbacks
from raystream.stream.selftest.fallbacks import (
    FORMAT,
    apply_fallbacks,
    device_notes,
    driver_build,
    failure,
    fallbacks_for,
    record_result,
)

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
        (("multipass", "stencil", "census"), ("stencil mask", MASK), ("multipass", "kill", "census")),
        (("multipass", "kill", "query"), ("kill mask",), ("multipass", "none", "query")),
        (("multipass", "tiles", "query"), (QUERIES,), ("multipass", "none", "census")),
        (("multipass", "depth", "query"), ("conditional rendering",), ("multipass", "depth", "census")),
        (("multipass", "none", "census"), (MASK, QUERIES), ("multipass", "none", "census")),
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


@pytest.mark.parametrize(
    "text", ["", "[]", "3", '{"format": 0, "passed": ["x"]}', '{"format": 1}', '{"format": 1, "passed": 3}']
)
def test_damaged_files_are_as_none(device: Device, folder: Path, text: str) -> None:
    record_result(device, MASK)
    (file,) = folder.iterdir()
    file.write_text(text)
    assert fallbacks.load_passed(device) == frozenset()


def test_a_folder_that_cannot_be_written_keeps_nothing(device: Device, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache_folder.FOLDER, str(tmp_path / "file"))
    record_result(device, MASK)
    assert fallbacks.load_passed(device) == frozenset()
    assert failure(distrusting(device), MASK) == ""


def test_another_build_of_a_driver_is_another(device: Device) -> None:
    other = distrusting(device)
    assert driver_build(other) == driver_build(device)
    other.info = {**other.info, "GL_VERSION": "4.5 Mesa 99"}
    assert driver_build(other) != driver_build(device)
    third = distrusting(device)
    third.extensions -= {"GL_ARB_texture_barrier"}
    assert driver_build(third) != driver_build(device)


def test_counters_of_pictures_leave_self_tests_out(device: Device) -> None:
    other = distrusting(device)
    before = other.compiled, other.waits, set(other.files)
    assert failure(other, MASK) == ""
    assert (other.compiled, other.waits, other.files) == before
