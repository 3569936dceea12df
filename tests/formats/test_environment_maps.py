"""Pictures as environments: every format, cube maps, sizes, options, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest
from picture_bytes import RANDOM, encoded
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.formats.image import environment_maps
from raystream.formats.image.environment_maps import (
    FACES,
    cube_radiance,
    equirectangular,
    from_layout,
    layout_of,
    load,
    read_picture,
    reduce_pixels,
    resolve_environment,
)
from raystream.scene.environment import DARKNESS, ConstantEnvironment, ImageEnvironment
from raystream.scene.texture import linear_from_srgb


def picture(width: int = 8, height: int = 4) -> np.ndarray:
    return np.random.default_rng(1).random((height, width, 3)).astype(np.float32)


def write_exr(path, channels, **header) -> None:
    header = {"type": OpenEXR.scanlineimage, "compression": OpenEXR.ZIP_COMPRESSION, **header}
    OpenEXR.File(header, channels).write(str(path))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("compression", ["NO", "RLE", "ZIPS", "ZIP", "PIZ"])
def test_exr(tmp_path, kind, compression) -> None:
    pixels = picture(70, 50).astype(kind)
    write_exr(tmp_path / "a.exr", {"RGB": pixels}, compression=getattr(OpenEXR, f"{compression}_COMPRESSION"))
    np.testing.assert_array_equal(read_picture(tmp_path / "a.exr"), pixels.astype(np.float32))


def test_exr_in_grey_and_with_more_channels(tmp_path) -> None:
    pixels = picture()
    write_exr(tmp_path / "grey.exr", {"Y": np.ascontiguousarray(pixels[..., 0])})
    np.testing.assert_array_equal(read_picture(tmp_path / "grey.exr"), np.repeat(pixels[..., :1], 3, axis=2))
    write_exr(tmp_path / "more.exr", {"RGB": pixels, "Z": np.ascontiguousarray(pixels[..., 0])})
    np.testing.assert_array_equal(read_picture(tmp_path / "more.exr"), pixels)
    write_exr(tmp_path / "depth.exr", {"Z": np.ascontiguousarray(pixels[..., 0])})
    with pytest.raises(ViewerError, match=r"no channels R, G and B \(channels: Z\)"):
        read_picture(tmp_path / "depth.exr")


def test_broken_exr_files(tmp_path) -> None:
    path = tmp_path / "a.exr"
    write_exr(path, {"RGB": picture(64, 64)})
    whole = path.read_bytes()
    for cut in (8, 60, 200, 400, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(ViewerError, match=r"truncated|damaged"):
            read_picture(path)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1", "LA"])
def test_png_is_srgb(tmp_path, mode) -> None:
    image = Image.fromarray((picture() * 255).astype(np.uint8)).convert(mode)
    image.save(tmp_path / "a.png")
    expected = linear_from_srgb(np.asarray(image.convert("RGB")) / 255.0)
    np.testing.assert_allclose(read_picture(tmp_path / "a.png"), expected, rtol=1e-6)


def test_broken_png_files(tmp_path) -> None:
    path = tmp_path / "a.png"
    Image.fromarray((picture(64, 64) * 255).astype(np.uint8)).save(path)
    whole = path.read_bytes()
    for cut in (9, 30, len(whole) // 2):
        path.write_bytes(whole[:cut])
        with pytest.raises(ViewerError, match="cannot be decoded"):
            read_picture(path)


@pytest.mark.parametrize(("name", "data"), [("a.hdr", b"hello"), ("a.txt", b""), ("a.gif", b"GIF89a")])
def test_other_files(tmp_path, name, data) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ViewerError, match="cannot be an environment"):
        load(tmp_path / name)
    with pytest.raises(ViewerError, match="no such file"):
        load(tmp_path / "missing.hdr")


def test_odd_shapes_are_noted(tmp_path) -> None:
    write_exr(tmp_path / "a.exr", {"RGB": picture(9, 4)})
    notes: list[str] = []
    assert load(tmp_path / "a.exr", 0, notes).pixels.shape == (4, 9, 3)
    assert notes == ["a.exr is 9 x 4, not twice as wide as high; taken for equirectangular"]


# Cube maps


def smooth(ways: np.ndarray) -> np.ndarray:
    """A radiance that tells every direction from every other."""
    return 1 + 0.5 * ways / np.linalg.norm(ways, axis=-1, keepdims=True)


def faces_of(side: int) -> np.ndarray:
    """Six faces of `smooth` by OpenGL's table 3.18, written down here once more from (s, t), and its left-handed x."""
    at = (np.arange(side) + 0.5) / side * 2 - 1
    s, t = np.meshgrid(at, at)
    one = np.ones_like(s)
    ways = [(one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)]
    return np.stack([smooth(np.stack([-x, y, z], axis=-1)) for x, y, z in ways]).astype(np.float32)


def test_cube_maps_show_what_their_faces_saw() -> None:
    ways = np.random.default_rng(1).normal(size=(5000, 3))
    # Bilinear on 64 pixels a side, clamped in the outer half pixel.
    np.testing.assert_allclose(cube_radiance(faces_of(64), ways), smooth(ways), atol=0.01)
    unit = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    found = ImageEnvironment(equirectangular(faces_of(32)))
    assert found.pixels.shape == (64, 128, 3)
    np.testing.assert_allclose(found.radiance(unit), smooth(unit), atol=0.02)


def laid_out(faces: np.ndarray, layout: str) -> np.ndarray:
    side = faces.shape[1]
    black = np.zeros((side, side, 3), np.float32)
    px, nx, py, ny, pz, nz = faces
    rows = {
        "horizontal cross": [[black, py, black, black], [nx, pz, px, nz], [black, ny, black, black]],
        "vertical cross": [[black, py, black], [nx, pz, px], [black, ny, black], [black, nz[::-1, ::-1], black]],
        "row": [list(faces)],
        "column": [[face] for face in faces],
    }[layout]
    return np.concatenate([np.concatenate(row, axis=1) for row in rows])


@pytest.mark.parametrize("layout", ["horizontal cross", "vertical cross", "row", "column"])
def test_layouts_of_one_picture(tmp_path, layout) -> None:
    faces = faces_of(5)
    pixels = laid_out(faces, layout)
    assert layout_of(pixels.shape[1], pixels.shape[0]) == layout
    np.testing.assert_array_equal(from_layout(pixels, layout), faces)
    write_exr(tmp_path / "a.exr", {"RGB": np.ascontiguousarray(pixels)})
    np.testing.assert_array_equal(load(tmp_path / "a.exr").pixels, equirectangular(faces))


@pytest.mark.parametrize("names", range(3))
def test_six_files_in_a_folder(tmp_path, names) -> None:
    faces = faces_of(6)
    for number, choices in enumerate(FACES):
        write_exr(tmp_path / f"Sky_{choices[names].upper()}.exr", {"RGB": faces[number]})
    (tmp_path / "notes.txt").write_text("not a face")
    np.testing.assert_array_equal(load(tmp_path, 15).pixels, equirectangular(faces))


def test_folders_that_are_no_cube(tmp_path) -> None:
    with pytest.raises(ViewerError, match="lacks the faces px, nx, py, ny, pz, nz"):
        load(tmp_path)
    for names in FACES:
        write_exr(tmp_path / f"{names[0]}.exr", {"RGB": picture(4, 4)})
    write_exr(tmp_path / "front.exr", {"RGB": picture(4, 4)})
    with pytest.raises(ViewerError, match=r"front.exr and pz.exr are both the face pz"):
        load(tmp_path)
    (tmp_path / "front.exr").unlink()
    write_exr(tmp_path / "ny.exr", {"RGB": picture(4, 5)})
    with pytest.raises(ViewerError, match=r"ny.exr: is 4 x 5 pixels"):
        load(tmp_path)


# What an option means


def test_options_become_environments(tmp_path) -> None:
    write_exr(tmp_path / "a.exr", {"RGB": picture()})
    assert resolve_environment((1, 2, 3)) == (ConstantEnvironment((1, 2, 3)), [])
    assert resolve_environment(None, sun=(10, 0))[0].flux < resolve_environment("sky")[0].flux
    assert "--environment sky" in resolve_environment((1, 2, 3), sun=(10, 0))[1][0]
    found, _ = resolve_environment(str(tmp_path / "a.exr"), 10)
    assert isinstance(found, ImageEnvironment) and found.rotation == 10
    again, _ = resolve_environment(found, 5)
    assert isinstance(again, ImageEnvironment) and again.rotation == 15
    assert resolve_environment(DARKNESS, 5)[0] is DARKNESS


@pytest.mark.parametrize(
    ("width", "height", "most", "block"),
    [(4, 2, 8, 1), (4, 2, 7, 2), (4, 2, 2, 2), (4, 2, 1, 4), (9, 9, 9, 3), (9, 9, 8, 5), (10, 10, 16, 3), (7, 1, 4, 2)],
)
def test_blocks_of_reduced_pictures(width: int, height: int, most: int, block: int) -> None:
    """The smallest whose number is within the limit; those at the right and below may be partial."""
    pixels = np.random.default_rng(width).random((height, width, 3), np.float32)
    found = reduce_pixels(pixels, most)
    rows, columns = -(-height // block), -(-width // block)
    assert found.shape == (rows, columns, 3) and rows * columns <= most
    for j in range(rows):
        for i in range(columns):
            part = pixels[j * block : (j + 1) * block, i * block : (i + 1) * block]
            np.testing.assert_allclose(found[j, i], part.mean(axis=(0, 1), dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("band", [1, 7, 20, 1 << 20])
@pytest.mark.parametrize("most", [1 << 24, 20, 5])
def test_bands_of_pictures_make_no_difference(
    band: int, most: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texels = RANDOM[:10, :20, :3]
    path = tmp_path / "a.png"
    path.write_bytes(encoded(texels))
    monkeypatch.setattr(environment_maps, "BAND_PIXELS", band)
    monkeypatch.setattr(environment_maps, "MOST_TEXELS", most)
    notes: list[str] = []
    found = environment_maps.load(path, 30, notes)
    linear = linear_from_srgb(texels / 255).astype(np.float32)
    np.testing.assert_allclose(found.pixels, reduce_pixels(linear, most), rtol=1e-6)
    assert (found.rotation, found.name) == (30, "a.png")
    size = f"{found.pixels.shape[1]} x {found.pixels.shape[0]}"
    assert notes == ([f"a.png: 20 x 10 pixels reduced to {size}"] if most < 200 else [])


def test_pictures_that_are_no_cubes() -> None:
    assert [layout_of(*size) for size in ((2, 1), (8, 4), (4, 4), (12, 8))] == [""] * 4


@pytest.mark.parametrize(
    ("side", "most", "shape"), [(3, 1 << 24, (6, 12)), (4, 64, (5, 10)), (4, 128, (8, 16)), (4, 2, (1, 2))]
)
def test_sizes_of_cubes_as_one_picture(side: int, most: int, shape: tuple[int, int]) -> None:
    faces = np.full((6, side, side, 3), (0.5, 1, 2), np.float32)
    found = environment_maps.equirectangular(faces, most)
    assert found.shape == (*shape, 3)
    np.testing.assert_allclose(found, np.broadcast_to((0.5, 1, 2), found.shape), rtol=1e-6)


DEFAULT = "the scene has no lights and is "

STUDIO = DEFAULT + "in the default studio (--environment sky or none)"

SKY = DEFAULT + "under the default sky (--environment none for darkness)"


@pytest.mark.parametrize(
    ("options", "name", "notes"),
    [
        ({}, "", []),
        ({"value": "none"}, "", []),
        ({"value": "none", "sun": (30, 0)}, "", ["--sun needs --environment sky"]),
        ({"lit": False}, "sky", [SKY]),
        ({"lit": False, "single_object": True}, "studio", [STUDIO]),
        ({"single_object": True}, "", []),
        ({"sun": (30, 0)}, "sky", []),
        ({"sun": (30, 0), "lit": False}, "sky", []),
        ({"sun": (30, 0), "lit": False, "single_object": True}, "sky", []),
        ({"value": "sky", "sun": (30, 0)}, "sky", []),
        ({"value": "studio"}, "studio", []),
        ({"value": "studio", "sun": (30, 0)}, "studio", ["--sun needs --environment sky"]),
        ({"value": "sky", "lit": False}, "sky", []),
    ],
)
def test_environments_of_options(options: dict[str, Any], name: str, notes: list[str]) -> None:
    found, told = resolve_environment(**{"value": None, "rotation": 25, **options})
    assert told == notes
    if name:
        assert found.name == name and getattr(found, "rotation", None) == 25
    else:
        assert found is DARKNESS
