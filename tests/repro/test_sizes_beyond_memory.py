"""A picture of 32768 x 32768 took 34 GB before anything was said."""

from __future__ import annotations

import tracemalloc

import pytest

from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.renderer.device import footprint
from raystream.renderer.device.footprint import check_memory, picture_bytes
from raystream.renderer.sampling import sampler
from raystream.scene import builtin


@pytest.fixture(scope="module")
def renderers(device):
    scene = builtin.build("cornell")
    return {name: Renderer(scene, program=name, machine="singlepass") for name in ("cast", "path")}


def test_to_the_byte(monkeypatch) -> None:
    needed = picture_bytes((640, 480), True, ("depth", "normal"), True)
    monkeypatch.setattr(footprint, "available", lambda: needed + 10)
    check_memory((640, 480), True, ("depth", "normal"), True, extra_bytes=10)
    with pytest.raises(ViewerError) as caught:
        check_memory((640, 480), True, ("depth", "normal"), True, extra_bytes=11)
    assert "size='640x480': takes about " in str(caught.value) and "MiB are free" in str(caught.value)
    wide, tall = (int(side) for side in caught.value.hint.split()[1].split("x"))
    assert (wide, tall) == (592, 448)  # sqrt(0.9) of it, in sixteens
    check_memory((wide, tall), True, ("depth", "normal"), True)
    monkeypatch.setattr(footprint, "available", lambda: None)
    check_memory((32768, 32768), True)


def test_sums_of_light_are_textures_beside_the_film() -> None:
    def textures(*layers: str) -> int:
        return picture_bytes((64, 48), True, layers, True) - picture_bytes((64, 48), True, layers)

    assert textures("emission") - textures("uv") == textures("light") - textures() == 64 * 48 * 6 * 16


@pytest.mark.parametrize("program", ["cast", "path"])
def test_nothing_is_taken_before_it_is_refused(renderers, monkeypatch, program) -> None:
    monkeypatch.setattr(footprint, "available", lambda: 16 << 30)
    tracemalloc.start()
    try:
        with pytest.raises(
            ViewerError, match=r"size='32768x32768': takes about .* GiB of memory, and 16.0 GiB are free"
        ):
            renderers[program].render((32768, 32768), spp=1)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("program", "layers"), [("cast", ("normal", "steps")), ("path", ("depth",))])
def test_what_is_told_is_what_is_taken(renderers, program, layers, tmp_path, monkeypatch) -> None:
    """NumPy's part of it, which is all but the textures; in streams that are small beside the picture."""
    monkeypatch.setattr(sampler, "LARGEST_STREAM", 1 << 12)
    size = 192, 160
    renderers[program].render((16, 16), spp=2, layers=layers)
    tracemalloc.start()
    try:
        picture = renderers[program].render(size, spp=2, layers=layers)
        picture.save(tmp_path / "a.npz")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = picture_bytes(size, program == "path", layers)
    assert 0.5 * told < peak < told + (1 << 20)  # a stream's arrays do not grow with the picture
