"""Pictures as environments: every format, cube maps, sizes, and what is refused."""

from __future__ import annotations

import numpy as np
import OpenEXR
import pytest
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.formats.image.environment_maps import (
    FACES,
    cube_radiance,
    equirectangular,
    from_layout,
    layout_of,
    load,
    read_picture,
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


def test_front_is_towards_z_and_its_right_is_seen_on_the_right() -> None:
    faces = np.zeros((6, 4, 4, 3), np.float32)
    faces[4, :, :, 0] = 1  # front
    faces[0, :, :, 1] = 1  # right
    faces[2, :, :, 2] = 1  # top
    # Who looks along +Z with +Y up has -X on the right.
    np.testing.assert_array_equal(
        cube_radiance(faces, np.array([[0.0, 0, 1], [-1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0]])),
        [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]],
    )


def test_energy_is_kept_when_faces_are_large() -> None:
    faces = np.zeros((6, 64, 64, 3), np.float32)
    faces[4, 20, 30] = 1
    (full, small) = (ImageEnvironment(equirectangular(faces, most)).flux for most in (1 << 24, 2048))
    assert small == pytest.approx(full, rel=0.15)  # 32 rows for 64 pixels a face: a coarse grid of directions


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
    assert resolve_environment(None) == (DARKNESS, []) == resolve_environment("none", lit=False)
    assert resolve_environment((1, 2, 3)) == (ConstantEnvironment((1, 2, 3)), [])
    sky, notes = resolve_environment(None, 20, lit=False)
    assert isinstance(sky, ImageEnvironment) and sky.rotation == 20 and len(notes) == 1 and "default sky" in notes[0]
    studio, notes = resolve_environment(None, 20, lit=False, single_object=True)
    assert studio.name == "studio" and studio.rotation == 20 and "default studio" in notes[0]
    assert resolve_environment("sky")[1] == [] == resolve_environment("studio")[1]
    low, notes = resolve_environment(None, sun=(10, 0))
    assert low.name == "sky" and low.flux < sky.flux and notes == []
    assert "--environment sky" in resolve_environment((1, 2, 3), sun=(10, 0))[1][0]
    found, _ = resolve_environment(str(tmp_path / "a.exr"), 10)
    assert isinstance(found, ImageEnvironment) and found.rotation == 10
    again, _ = resolve_environment(found, 5)
    assert isinstance(again, ImageEnvironment) and again.rotation == 15
    assert resolve_environment(DARKNESS, 5)[0] is DARKNESS
