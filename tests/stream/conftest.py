"""Shared by the tests of the stream processor: a folder of shaders that holds the toy kernels beside the real ones."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import toys

from raystream.base import paths
from raystream.stream.gl.device import Device, open_device


@pytest.fixture(scope="session")
def shader_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of ``shaders/`` with the toys' kernels."""
    folder = tmp_path_factory.mktemp("shaders") / "shaders"
    shutil.copytree(paths.shaders(), folder)
    for name, text in toys.SHADERS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def copying(device: Device) -> Device:
    """The device's context, as if it had no texture barrier."""
    with device.current():
        return Device(device.context, allow_barrier=False)


@pytest.fixture(scope="module")
def textures(device: Device) -> Device:
    """The device's context, as if its buffer textures were too small: rows of 2-D textures."""
    with device.current():
        return Device(device.context, allow_buffers=False)


@pytest.fixture(scope="module")
def gpu_form(device: Device) -> Device:
    """The device's context, with programs as GPUs get them."""
    with device.current():
        made = Device(device.context)
    made.software_form = False
    return made


@pytest.fixture
def slow(device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """A device that is a GPU, as far as anybody knows, and a thousand times slower than it is."""
    made: list[Device] = []
    # Threads that another test leaves may still draw on a device of their own, which is none of this test.
    software = property(lambda self: self is not made[0] if made else self is device)
    monkeypatch.setattr(Device, "software", software)
    found = open_device()
    made.append(found)
    found.slowness = 1000.0
    yield found
    found.release()


@pytest.fixture(scope="module", autouse=True)
def _toy_shaders(shader_folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "shaders", lambda: shader_folder)
        yield
