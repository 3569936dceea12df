"""What a session's preview draws before its first picture: the driver compiles its part of each pass then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice

import moderngl
import pytest

from raystream.renderer.preview import preview
from raystream.renderer.preview.frame import FrameClock
from raystream.renderer.preview.preview import Preview, PreviewPasses
from raystream.renderer.preview.scheduler import Scheduler
from raystream.renderer.renderer import Renderer
from raystream.renderer.session.session import Session
from raystream.stream.gl import stream as streams
from raystream.stream.gl.device import Device
from raystream.viewport.picture_texture import PictureTexture


def test_what_is_rehearsed_has_edges_as_windows_have(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """To llvmpipe textures with edges of powers of two are other ones, for which it compiles other programs. Single
    texels stand for what is not there."""
    sizes: list[tuple[int, int]] = []
    made = streams.float_texture

    def noted(of: Device, size: tuple[int, int], *given: object) -> moderngl.Texture:
        sizes.append(size)
        return made(of, size, *given)

    renderer = Renderer("cornell", device=device)
    preview = Preview(renderer, FrameClock(renderer.device, Scheduler(interactive=True)))
    preview.gbuffer.window_pixels = 96 * 54
    monkeypatch.setattr(streams, "float_texture", noted)
    for _ in preview.warm():
        pass
    preview.release()
    renderer.release()
    pictures = {size for size in sizes if size[0] > 1 and size[0] < 64}
    assert pictures and not [size for size in pictures if any(edge & (edge - 1) == 0 for edge in size)]


def session_on(device: Device) -> Session:
    return Session(size=(96, 54), screen=PictureTexture(device))


def _noted(made: list[str], name: str, kind: Callable[[Device], object], device: Device) -> object:
    made.append(name)
    return kind(device)


@pytest.mark.parametrize("steps", [1, 4, 1000])
def test_what_was_rehearsed_is_the_first_renderer_s(
    device: Device, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """As far as that has come: each pass is made once, compiled once, and drawn once before pictures. The next
    renderer's are its own."""
    made: list[str] = []
    drawn: list[str] = []
    names = [pass_type.__name__ for pass_type in preview.PASS_TYPES]
    noted = [partial(_noted, made, *each) for each in zip(names, preview.PASS_TYPES, strict=True)]
    monkeypatch.setattr(preview, "PASS_TYPES", tuple(noted))
    rehearse = PreviewPasses._rehearse
    monkeypatch.setattr(
        PreviewPasses, "_rehearse", lambda own, camera: (drawn.append(camera.kind), rehearse(own, camera))
    )
    with device.current():
        session, renderers = session_on(device), [Renderer("cornell", device=device) for _ in range(2)]
        for _ in islice(session.rehearse(device), steps):
            pass
        assert len(made) == min(steps, len(noted)) and drawn == ([""] if steps > 100 else [])
        session.use(renderers[0])
        while session.pictures < 1:
            session.advance(1.0)
        assert made == names and drawn == [""]
        first = session.preview.passes
        session.use(renderers[1])
        while session.pictures < 2:
            session.advance(1.0)
        assert session.preview.passes is not first and made == 2 * names and drawn == ["", ""]
        session.release()
        for each in renderers:
            each.release()
