"""Reduction by bands, cube maps and environments, by tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_bytes import RANDOM, encoded

from raystream.base.errors import ViewerError
from raystream.formats.image import environment_maps
from raystream.formats.image.environment_maps import reduce_pixels, resolve_environment
from raystream.scene.environment import DARKNESS
from raystream.scene.texture import linear_from_srgb


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


@pytest.mark.parametrize(
    ("width", "height", "layout"),
    [
        (8, 6, "horizontal cross"),
        (6, 8, "vertical cross"),
        (6, 1, "row"),
        (1, 6, "column"),
        (12, 2, "row"),
        (2, 1, ""),
        (8, 4, ""),
        (4, 4, ""),
        (2, 12, "column"),
        (9, 12, "vertical cross"),
        (12, 8, ""),
    ],
)
def test_layouts_of_cubes(width: int, height: int, layout: str) -> None:
    assert environment_maps.layout_of(width, height) == layout


def test_directions_between_faces() -> None:
    """Where two components are equal, the first of x, y, z decides."""
    faces = np.zeros((6, 1, 1, 3), np.float32)
    faces[..., 0] = np.arange(6)[:, None, None]
    corners = np.array([(-1, 1, 1), (1, 1, 1), (0, 1, 1), (0, -1, 1), (1, 0, 1), (0, 0, -1), (0, 1, -1)], float)
    assert environment_maps.cube_radiance(faces, corners)[:, 0].tolist() == [0, 1, 2, 3, 1, 5, 2]


@pytest.mark.parametrize(
    ("side", "most", "shape"), [(3, 1 << 24, (6, 12)), (4, 64, (5, 10)), (4, 128, (8, 16)), (4, 2, (1, 2))]
)
def test_sizes_of_cubes_as_one_picture(side: int, most: int, shape: tuple[int, int]) -> None:
    faces = np.full((6, side, side, 3), (0.5, 1, 2), np.float32)
    found = environment_maps.equirectangular(faces, most)
    assert found.shape == (*shape, 3)
    np.testing.assert_allclose(found, np.broadcast_to((0.5, 1, 2), found.shape), rtol=1e-6)


def test_names_of_faces(tmp_path: Path) -> None:
    """At the end of a file's name, behind a sign; other files do not count."""
    names = ("sky-Right.PNG", "sky left.png", "a_up.png", "bottom.jpeg", "x.posz.png", "nz.png", "nap.png", "px.txt")
    for number, name in enumerate(names):
        flat = np.full((2, 2, 3), min(40 * number, 255), np.uint8)
        (tmp_path / name).write_bytes(encoded(flat, "JPEG" if "jpeg" in name else "PNG"))
    faces = environment_maps._faces(tmp_path, [])
    linear = linear_from_srgb(np.arange(6) * 40 / 255)
    np.testing.assert_allclose(faces, np.broadcast_to(linear[:, None, None, None], faces.shape), atol=0.01)
    (tmp_path / "nz.png").unlink()
    (tmp_path / "xnz.png").write_bytes(encoded(np.zeros((2, 2, 3), np.uint8)))
    with pytest.raises(ViewerError, match="lacks the faces nz of a cube"):
        environment_maps._faces(tmp_path, [])


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
