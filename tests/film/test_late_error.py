"""The error of a film that comes later: the host goes on meanwhile, and gets the figure of the samples of then."""

from __future__ import annotations

import pytest

from raystream.film.device_film import FilmBuffer
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device


@pytest.mark.parametrize("samples", [3, 4])
def test_the_error_of_then(device: Device, samples: int) -> None:
    film = Renderer("cornell", device=device, program="path").render(size=(20, 12), spp=samples, error=1e-9).film
    assert film is not None
    with device.current():
        buffer = FilmBuffer(device, (20, 12), film)
        wanted, spread = buffer.error(), buffer.relative_std_error
        coming = buffer.begin_error()
        device.context.finish()
        waits = device.waits
        buffer.set_samples(2 * samples)
        assert coming is not None and coming.ready
        assert buffer.resolve_error(coming) == wanted > 0
        assert buffer.relative_std_error == spread
        assert device.waits == waits
        buffer.release()
