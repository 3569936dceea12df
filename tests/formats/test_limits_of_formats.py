"""Limits of sizes, texels and bytes: what is just within is read, and one more is refused."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from documents import SQUARE, TWO, Document
from exr_bytes import exr_bytes
from picture_bytes import encoded

from raystream.base.errors import ViewerError
from raystream.formats import files, load
from raystream.formats.files import Budget
from raystream.formats.gltf import json
from raystream.formats.gltf.json import parse
from raystream.formats.image import environment_maps, images


def grey_png(width: int, height: int) -> bytes:
    return encoded(np.full((height, width, 3), 200, np.uint8))


def textured(*sizes: tuple[int, int]) -> Document:
    """A square with a material for each of these pictures."""
    doc = Document()
    coordinates = doc.accessor(SQUARE[:, :2])
    places, order = doc.accessor(SQUARE), doc.accessor(TWO)
    uris = ["data:image/png;base64," + base64.b64encode(grey_png(*size)).decode() for size in sizes]
    doc.json["images"] = [{"uri": uri} for uri in uris]
    doc.json["textures"] = [{"source": k} for k in range(len(sizes))]
    texture = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": k}}} for k in range(len(sizes))]
    doc.json["materials"] = texture
    attributes = {"POSITION": places, "TEXCOORD_0": coordinates}
    primitives = [{"attributes": attributes, "indices": order, "material": k} for k in range(len(sizes))]
    doc.json["meshes"] = [{"primitives": primitives}]
    return doc


def test_bytes_of_a_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(100))
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 100)
    assert len(files.read_file(path)) == 100
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 99)
    with pytest.raises(ViewerError, match="100 bytes, more than the 99"):
        files.read_file(path)


def test_values_of_json(monkeypatch) -> None:
    text = b'{"a": [1, 2, 3]}'  # a brace, a bracket, two commas
    monkeypatch.setattr(json, "MAX_VALUES", 4)
    assert parse(text, "x").data == {"a": [1, 2, 3]}
    monkeypatch.setattr(json, "MAX_VALUES", 3)
    with pytest.raises(ViewerError, match="more than 3 values"):
        parse(text, "x")


@pytest.mark.parametrize("limit", ["MAX_IMAGE_TEXELS", "MAX_SCENE_TEXELS"])
def test_texels_of_a_scene(limit, tmp_path, monkeypatch) -> None:
    """Of one image, and of all that were read so far; those that are too much are refused."""
    one, sizes = 8 * 5, [(8, 5), (8, 5)]
    most = one if limit == "MAX_IMAGE_TEXELS" else 2 * one
    path = textured(*sizes).write(tmp_path)
    for given, read in ((most, 2), (most - 1, 0 if limit == "MAX_IMAGE_TEXELS" else 1)):
        monkeypatch.setattr(images, limit, given)
        if read < 2:
            with pytest.raises(ViewerError, match="8 x 5 texels, more than"):
                load(path)
        scene = load(path, lenient=True)
        shapes = [texture.image.texels.shape[:2] for texture in scene.textures]
        assert shapes.count((5, 8)) == read
        assert any("8 x 5 texels, more than" in warning for warning in scene.warnings) == (read < 2)


@pytest.mark.parametrize("name", ["a.png", "a.hdr", "a.exr"])
def test_pixels_of_an_environment(name, tmp_path, monkeypatch) -> None:
    path = tmp_path / name
    data = {"a.png": grey_png(8, 4), "a.hdr": b"#?RADIANCE\n\n-Y 4 +X 8\n" + bytes(128)}
    path.write_bytes(data.get(name) or exr_bytes(dict.fromkeys("RGB", np.zeros((4, 8), np.float32))))
    monkeypatch.setattr(environment_maps, "MAX_PIXELS", 32)
    assert environment_maps.read_picture(path).shape == (4, 8, 3)
    monkeypatch.setattr(environment_maps, "MAX_PIXELS", 31)
    with pytest.raises(ViewerError, match="8 x 4 pixels, not 1 to 31"):
        environment_maps.read_picture(path)


def test_budget_to_the_byte() -> None:
    for grants, most in (((), 1 << 30), ((10, 5), (1 << 30) + 16 * 15)):
        for charges in ((most,), (most - 7, 7)):
            budget = Budget("x")
            for size in grants:
                budget.grant(size)
            for size in charges:
                budget.charge(size)
            with pytest.raises(ViewerError, match="expands to"):
                budget.charge(1)
