"""What a session's preview draws before its first picture: the driver compiles its part of each pass then."""

from __future__ import annotations

import moderngl
import pytest

from viewer.renderer.preview.preview import Preview
from viewer.renderer.preview.scheduler import Scheduler
from viewer.renderer.renderer import Renderer
from viewer.stream.gl import stream as streams
from viewer.stream.gl.device import Device


def test_what_is_rehearsed_has_edges_as_windows_have(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """To llvmpipe textures with edges of powers of two are other ones, for which it compiles other programs. Single
    texels stand for what is not there; the cells of the irradiance cache are a power of two in pictures, too."""
    sizes: list[tuple[int, int]] = []
    made = streams.float_texture

    def noted(of: Device, size: tuple[int, int], *given: object) -> moderngl.Texture:
        sizes.append(size)
        return made(of, size, *given)

    renderer = Renderer("cornell", device=device)
    preview = Preview(renderer, Scheduler(interactive=True))
    preview.gbuffer.fit(96 * 54)
    monkeypatch.setattr(streams, "float_texture", noted)
    for _ in preview.warm():
        pass
    preview.release()
    renderer.release()
    pictures = {size for size in sizes if size[0] > 1 and size[0] < 64}
    assert pictures and not [size for size in pictures if any(edge & (edge - 1) == 0 for edge in size)]
