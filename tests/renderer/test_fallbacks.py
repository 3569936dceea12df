"""Pictures on a driver that fails a self-test: by the next way that works, with the same bits, and a line about it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.base.errors import ViewerWarning
from raystream.stream.gl.device import Device
from raystream.stream.machines.mask import KillMask, Mask
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.singlepass import Singlepass

SIZE = (24, 20)
ASKED = {"fuse": "none", "mask": "depth", "count": "query"}


def distrusting(device: Device, *names: str) -> Device:
    return Device(device.context, distrusted=frozenset(names))


@pytest.fixture(scope="module")
def wanted(device: Device) -> np.ndarray:
    with device.current():
        return Renderer(raystream.load("cornell"), program="cast", **ASKED, device=device).render(SIZE).linear


@pytest.mark.parametrize(
    ("distrusted", "word"),
    [
        (("depth mask",), "--mask kill in place of depth"),
        (("depth mask", "kill mask"), "--mask none in place of depth"),
        (("occlusion queries",), "--count census in place of query"),
        (("multipass",), "--machine singlepass in place of multipass"),
        (("texture barrier",), "passes copy their output back"),
        (("buffer textures",), "scene data lies in 2-D and 3-D textures"),
    ],
)
def test_a_failed_self_test_is_worked_around(device: Device, wanted: np.ndarray, distrusted, word: str) -> None:
    other = distrusting(device, *distrusted)
    renderer = Renderer(raystream.load("cornell"), program="cast", **ASKED, device=other)
    (note,) = renderer.notes
    assert word in note and f"'{distrusted[0]}'" in note
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ViewerWarning)
        picture = renderer.render(SIZE)
    assert picture.linear.tobytes() == wanted.tobytes()
    (machine,) = renderer.gpu_scene.machines.values()
    if "multipass" in distrusted:
        assert isinstance(machine, Singlepass)
        return
    assert isinstance(machine, Multipass)
    if "mask" in word:
        assert type(machine.mask) is (KillMask if "kill mask" not in distrusted else Mask)
    assert machine.count == ("census" if "count" in word else "query")
    assert machine.copies == (distrusted == ("texture barrier",)) or device.texture_barrier is None
    if distrusted == ("buffer textures",):
        assert renderer.gpu_scene.resources.arena_row > 0
    renderer.release()


def test_python_is_warned(device: Device) -> None:
    renderer = Renderer(raystream.load("cornell"), program="cast", **ASKED, device=distrusting(device, "depth mask"))
    with pytest.warns(ViewerWarning, match="fails the self-test of 'depth mask'.*mask='kill' in place of depth"):
        renderer.render((8, 8))
    renderer.release()


def test_another_mask_is_chosen_as_asked(device: Device) -> None:
    """What is not asked for is neither tested nor told."""
    other = distrusting(device, "depth mask")
    renderer = Renderer(raystream.load("cornell"), program="cast", **ASKED | {"mask": "stencil"}, device=other)
    assert renderer.notes == [] and "depth mask" not in other.selftests
    renderer.update(mask="depth")
    assert len(renderer.notes) == 1
    renderer.update(machine="singlepass")
    assert renderer.notes == []
    renderer.release()
