"""Large buffer textures of a software driver: pages of the process, which take no time until they are written."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

import moderngl
import numpy as np
import pytest

from raystream.base.memory import Pages
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import MIN_PINNED_BYTES, BufferTexture
from raystream.stream.gl.objects import PinnedBuffer

LARGE = MIN_PINNED_BYTES // 16  # texels of four floats


@pytest.fixture
def made(device: Device, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of the buffers that the driver makes of memory of its own, from now on."""
    if not PinnedBuffer.is_supported(device):
        pytest.skip("no OpenGL 3.3 driver here with pages of the process: llvmpipe of Linux has them")
    found: list[int] = []
    buffer = moderngl.Context.buffer

    def noted(*given: object, **named: int) -> moderngl.Buffer:
        found.append(named["reserve"])
        return buffer(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(moderngl.Context, "buffer", noted)
    return found


def numbers(texels: int) -> np.ndarray:
    return np.random.default_rng(texels).random((texels, 4), np.float32)


def test_a_large_buffer_is_not_filled_by_the_driver(device: Device, made: list[int]) -> None:
    with device.current():
        texture = BufferTexture(device, 4 * LARGE, 4)
        assert made == []
        written = numbers(LARGE)
        texture.write(written, 16 * LARGE)
        held = np.frombuffer(texture.buffer.read(), np.float32).reshape(-1, 4)
        np.testing.assert_array_equal(held[LARGE : 2 * LARGE], written)
        assert not held[:LARGE].any() and not held[2 * LARGE :].any()
        texture.release()
        BufferTexture(device, LARGE - 1, 4).release()
        assert made == [MIN_PINNED_BYTES - 16]


def test_it_grows_without_a_copy(device: Device, made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with device.current():
        texture, written = BufferTexture(device, LARGE, 4), numbers(LARGE)
        texture.write(written)
        monkeypatch.setattr(moderngl.Context, "copy_buffer", lambda *_: pytest.fail("copied"))
        for size in (2 * LARGE, 64 * LARGE):
            texture.grow(size)
            assert texture.buffer.size == texture.bytes == 16 * size
            held = np.frombuffer(texture.buffer.read(MIN_PINNED_BYTES), np.float32).reshape(-1, 4)
            np.testing.assert_array_equal(held, written)
        texture.write(written, 16 * 63 * LARGE)
        texture.release()
        assert made == [] and device.context.error == "GL_NO_ERROR"


def test_one_that_has_grown_keeps_its_name(device: Device, made: list[int]) -> None:
    """The next use of the context frees what has been dropped: the buffers of before, which had the same name."""
    with device.current():
        texture, written = BufferTexture(device, LARGE, 4), numbers(LARGE)
        texture.grow(4 * LARGE)
        texture.grow(8 * LARGE)
        gc.collect()
    with device.current():
        texture.write(written, 16 * 7 * LARGE)
        other = BufferTexture(device, LARGE, 4)
        held = np.frombuffer(texture.buffer.read(MIN_PINNED_BYTES, offset=16 * 7 * LARGE), np.float32).reshape(-1, 4)
        np.testing.assert_array_equal(held, written)
        assert other.buffer.glo != texture.buffer.glo and device.context.error == "GL_NO_ERROR"
        other.release()
        texture.release()


def test_the_largest_one_is_counted_in_32_bits(device: Device, made: list[int]) -> None:
    with device.current():
        texture = BufferTexture(device, device.max_buffer, 4)
        assert texture.buffer.size == 16 * device.max_buffer < 1 << 31
        texture.write(numbers(LARGE), texture.bytes - MIN_PINNED_BYTES)
        texture.release()
        assert device.context.error == "GL_NO_ERROR"


def test_other_drivers_make_their_own(device: Device, made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU would read pages of the process through the bus."""
    with device.current():
        for name, value in (("software", False), ("extensions", frozenset[str]())):
            with monkeypatch.context() as patch:
                patch.setattr(Device, name, value, raising=False)
                if name == "extensions":
                    patch.setattr(device, name, value)
                BufferTexture(device, LARGE, 4).release()
        assert made == [MIN_PINNED_BYTES, MIN_PINNED_BYTES]


def test_pages_are_freed_once_nothing_reads_them(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, or where Python has dropped the texture, at the next use of the context."""
    if not PinnedBuffer.is_supported(device):
        pytest.skip("no OpenGL 3.3 driver here with pages of the process: llvmpipe of Linux has them")
    gc.collect()
    with device.current():
        pass  # frees what others have dropped
    freed: list[int] = []
    release = Pages.release
    monkeypatch.setattr(Pages, "release", lambda pages: (freed.append(pages.size), release(pages))[1])
    with device.current():
        texture = BufferTexture(device, LARGE, 4)
        texture.release()
        texture.release()
        assert freed == [MIN_PINNED_BYTES]
        texture = BufferTexture(device, 2 * LARGE, 4)
        del texture
        gc.collect()
    with device.current():
        assert freed == [MIN_PINNED_BYTES, 2 * MIN_PINNED_BYTES] and device.context.error == "GL_NO_ERROR"


def test_pages_are_zeros_and_keep_what_is_written() -> None:
    pages = Pages(3 << 20)
    whole = (ctypes.c_char * pages.size).from_address(pages.address)
    assert not any(whole[:: 1 << 16])
    whole[5] = b"x"
    del whole
    pages.grow(300 << 20)
    assert (ctypes.c_char * pages.size).from_address(pages.address)[5] == b"x"
    pages.release()
    pages.release()
    with pytest.raises(MemoryError):
        Pages(1 << 62)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="mappings are read from /proc")
def test_pages_that_nothing_holds_are_freed() -> None:
    """As those are whose context has ended, in which nothing is released any more."""
    pages = Pages(3 << 20)
    pages.grow(5 << 20)
    address = pages.address
    assert _mapped(address)
    del pages
    gc.collect()
    assert not _mapped(address)


def _mapped(address: int) -> bool:
    """Whether it lies in a mapping of this process; neighbouring ones may be told as one."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, end = (int(edge, 16) for edge in line.split()[0].split("-"))
        if first <= address < end:
            return True
    return False
