"""glTF whose geometry or images are compressed: Draco, meshopt, Basis Universal and WebP; their headers."""

from __future__ import annotations

import struct
import sys
from typing import Any

import numpy as np
import pytest
from compressed import (
    BLOCKS,
    COLORS,
    ETC1S,
    ETC1S_COLORS,
    TEXELS,
    ZSTANDARD,
    draco,
    extra,
    ktx2,
    meshopt,
    supercompressed,
)
from documents import SQUARE, TWO, Document
from picture_bytes import encoded

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.gltf import decoders
from raystream.formats.gltf.decoders import draco_size
from raystream.formats.gltf.json import JsonObject
from raystream.formats.image import images


def refused(doc: Document, folder, words: str) -> None:
    with pytest.raises(ViewerError, match=words) as error:
        load(doc.write(folder))
    assert "\n" not in str(error.value)


# -- Draco -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [True, False], ids=["sequential", "edgebreaker"])
def test_draco(order, tmp_path):
    scene = load(draco(order).write(tmp_path))
    (mesh,) = scene.meshes
    assert not scene.extensions_ignored and not scene.warnings
    corners = mesh.positions[mesh.triangles]
    # 14 bits of quantisation
    assert np.allclose(np.sort(corners.reshape(2, -1)), np.sort(SQUARE[TWO].reshape(2, -1)), atol=1e-4)
    if order:
        assert np.array_equal(mesh.triangles, TWO.reshape(-1, 3)) and np.allclose(mesh.positions, SQUARE, atol=1e-4)
    number = [int(np.argmin(np.abs(SQUARE - point).sum(axis=1))) for point in mesh.positions]
    assert np.allclose(mesh.uvs, SQUARE[number, :2], atol=1e-3)
    assert np.allclose(mesh.normals, (0, 0, 1), atol=1e-2)
    assert np.array_equal(mesh.colors, np.float32(COLORS[number]) / np.float32(255))
    assert np.array_equal(mesh.tangents, np.tile(np.float32([1, 0, 0, -1]), (4, 1)))


def test_draco_damaged(tmp_path):
    doc = draco()
    view = doc.json["bufferViews"][
        doc.json["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"]["bufferView"]
    ]
    data, at = doc.data, view["byteOffset"]
    view["byteLength"] //= 2
    refused(doc, tmp_path, "KHR_draco_mesh_compression.bufferView: .*cannot be decompressed")
    view["byteLength"] = len(data) - at
    # 2^35 - 1 faces: refused by their number, not by the memory that they do not get
    doc.data = data[: at + 11] + b"\xff\xff\xff\xff\x7f" + data[at + 11 :]
    view["byteLength"] += 5
    refused(doc, tmp_path, "expands to far more data")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bufferView": 99}, "names buffer view 99"),
        ({"attributes": {"POSITION": 99}}, r"attributes.POSITION: names attribute 99, and there are \["),
        ({"attributes": []}, "attributes: expected an object"),
        ({"attributes": {"POSITION": -1}}, "is not in 0"),
        ({"attributes": {}}, "expands to|names vertex|POSITION"),
    ],
)
def test_draco_malformed(change, words, tmp_path):
    doc = draco()
    doc.json["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"].update(change)
    if change == {"attributes": {}}:  # the accessors have no data, and stand for zeros
        assert not load(doc.write(tmp_path)).meshes[0].positions.any()
        return
    refused(doc, tmp_path, words)


def test_draco_of_a_wrong_width(tmp_path):
    doc = draco()
    named = doc.json["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"]["attributes"]
    named["POSITION"], named["TEXCOORD_0"] = named["TEXCOORD_0"], named["POSITION"]
    refused(doc, tmp_path, "POSITION: was decompressed to 2 numbers each")


# -- meshopt -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["EXT_meshopt_compression", "KHR_meshopt_compression"])
def test_meshopt(name, tmp_path):
    scene = load(meshopt(name).write(tmp_path))
    (mesh,) = scene.meshes
    assert np.array_equal(mesh.positions, SQUARE) and np.allclose(mesh.normals, (0, 0, 1))
    assert np.array_equal(np.sort(mesh.triangles), np.sort(TWO.reshape(-1, 3)))  # a triangle may begin elsewhere
    assert not scene.extensions_ignored and not scene.warnings


@pytest.mark.parametrize(
    ("view", "change", "words"),
    [
        (0, {"count": 5}, "60 bytes, but the buffer view has 48"),
        (0, {"byteStride": 6}, "not a multiple of 4"),
        (0, {"mode": "POINTS"}, "mode: unknown: 'POINTS'"),
        (0, {"mode": "INDICES"}, "indices have 2 or 4"),
        (0, {"filter": "COLOR"}, "filter: unknown: 'COLOR'"),
        (0, {"filter": "QUATERNION"}, "12, which filter QUATERNION does not support"),
        (2, {"count": 5}, "not a multiple of 3"),
        (2, {"filter": "EXPONENTIAL"}, "with filter EXPONENTIAL"),
        (0, {"buffer": 1}, "is missing, and the file holds no data"),
        (0, {"byteLength": 7}, "cannot be decompressed"),
    ],
)
def test_meshopt_malformed(view, change, words, tmp_path):
    doc = meshopt()
    doc.json["bufferViews"][view]["extensions"]["EXT_meshopt_compression"].update(change)
    refused(doc, tmp_path, words)


def test_meshopt_of_a_huge_count(tmp_path):
    doc = meshopt()
    doc.json["bufferViews"][0]["byteLength"] = 12 << 30
    doc.json["bufferViews"][0]["extensions"]["EXT_meshopt_compression"]["count"] = 1 << 30
    refused(doc, tmp_path, "expands to far more data")


# -- what is not installed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("KHR_draco_mesh_compression", "DracoPy"),
        ("EXT_meshopt_compression", "meshopt"),
        ("KHR_meshopt_compression", "meshopt"),
        ("KHR_texture_basisu", "opengl_basisu"),
    ],
)
def test_a_decoder_that_is_missing_is_named_with_its_command(name, module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    doc = Document()
    doc.square()
    doc.json["extensionsRequired"] = [name]
    refused(doc, tmp_path, rf'{name}: needs the decoder {module}.*install it: pip install "raystream\[gltf\]"')


def test_uncompressed_data_are_used_where_the_decoder_is_missing(tmp_path, monkeypatch):
    doc = Document()
    doc.square()
    (primitive,) = doc.json["meshes"][0]["primitives"]
    primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}}
    packed = {"buffer": 9, "byteLength": 1, "count": 4, "byteStride": 12, "mode": "ATTRIBUTES"}
    doc.json["bufferViews"][0]["extensions"] = {"EXT_meshopt_compression": packed}
    for module in ("DracoPy", "meshopt"):
        monkeypatch.setitem(sys.modules, module, None)
    assert np.array_equal(load(doc.write(tmp_path, "scene.gltf")).meshes[0].positions[:4], SQUARE)


@pytest.mark.parametrize(
    ("component", "kind", "largest"), [(5120, np.int8, 127), (5123, np.uint16, 65535), (5122, np.int16, 32767)]
)
def test_draco_integers_of_other_types(component, kind, largest, tmp_path):
    """The accessor's type counts, not that of the stored bytes: 255 is 255/65535 in 16 bits, and -1 in int8."""
    doc = draco()
    mesh = doc.json["meshes"][0]["primitives"][0]
    doc.json["accessors"][mesh["attributes"]["COLOR_0"]]["componentType"] = component
    colors = load(doc.write(tmp_path)).meshes[0].colors
    expected = np.maximum(COLORS.astype(kind).astype(np.float32) / np.float32(largest), 0)  # no colour is negative
    np.testing.assert_array_equal(colors, expected)


# -- images ------------------------------------------------------------------------------------------------------------


def textured(extension: str, data: bytes, fallback: bool) -> Document:
    doc = Document()
    doc.mesh(
        {"POSITION": doc.accessor(SQUARE), "TEXCOORD_0": doc.accessor(SQUARE[:, :2])}, doc.accessor(TWO), material=0
    )
    doc.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    doc.json["images"] = [{"bufferView": doc.view(each)} for each in (data, encoded(TEXELS[:1, :1]))]
    doc.json["textures"] = [{"extensions": {extension: {"source": 0}}, **({"source": 1} if fallback else {})}]
    doc.json["extensionsUsed"] = [extension]
    return doc


@pytest.mark.parametrize("fallback", [True, False])
def test_webp(fallback, tmp_path):
    opaque = TEXELS | np.uint8([0, 0, 0, 255])
    scene = load(textured("EXT_texture_webp", encoded(opaque, "WEBP", lossless=True), fallback).write(tmp_path))
    assert np.array_equal(scene.textures[0].image.texels, opaque)
    assert not scene.warnings and not scene.extensions_ignored


@pytest.mark.parametrize("fallback", [True, False])
def test_basis(fallback, tmp_path):
    extra("opengl_basisu")
    scene = load(textured("KHR_texture_basisu", ktx2(BLOCKS), fallback).write(tmp_path))
    assert np.array_equal(scene.textures[0].image.texels, TEXELS)
    assert not scene.warnings and not scene.extensions_ignored


def test_basis_with_codebooks(tmp_path):
    """ETC1S beside UASTC; it keeps 5 bits of a colour and rounds the difference of its channels: 4 of 255."""
    extra("opengl_basisu")
    scene = load(textured("KHR_texture_basisu", ETC1S, False).write(tmp_path))
    texels = scene.textures[0].image.texels.astype(int)
    want = ETC1S_COLORS.repeat(4, axis=0).repeat(4, axis=1)
    assert np.abs(texels[..., :3] - want).max() <= 4 and (texels[..., 3] == 255).all()


def test_basis_within_zstandard(tmp_path):
    """UASTC as packers mostly store it: supercompression scheme 2 of KTX 2."""
    extra("opengl_basisu")
    scene = load(textured("KHR_texture_basisu", supercompressed(ktx2(BLOCKS), ZSTANDARD), False).write(tmp_path))
    assert np.array_equal(scene.textures[0].image.texels, TEXELS)


def test_basis_without_its_decoder(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opengl_basisu", None)
    scene = load(textured("KHR_texture_basisu", ktx2(BLOCKS), True).write(tmp_path))
    assert np.array_equal(scene.textures[0].image.texels, TEXELS[:1, :1])
    refused(
        textured("KHR_texture_basisu", ktx2(BLOCKS), False), tmp_path, r"images\[0\]: needs the decoder opengl_basisu"
    )


@pytest.mark.parametrize(("at", "value"), [(12, 37), (48, 0)], ids=["format", "descriptor"])
def test_basis_malformed(at, value):
    extra("opengl_basisu")
    data = bytearray(ktx2(BLOCKS))
    struct.pack_into("<I", data, at, value)
    with pytest.raises(ViewerError, match="unreadable KTX 2 image"):
        decoders.decode_basis(bytes(data), "here")


def test_basis_levels_of_odd_sizes():
    """11 x 7 texels, and the level of 5 x 3 that is read where the whole picture does not fit."""
    extra("opengl_basisu")
    second, third = BLOCKS[:1, :2, ::-1], BLOCKS[1:, :1]
    data = ktx2(BLOCKS, second, third, size=(11, 7))
    found = decoders.basis_header(data, "here")
    assert (found.width, found.height, found.least) == (11, 7, 4)
    for factor, blocks, tall, wide in ((1, BLOCKS, 7, 11), (2, second, 3, 5), (4, third, 1, 2)):
        texels = blocks.repeat(4, axis=0).repeat(4, axis=1)[:tall, :wide]
        np.testing.assert_array_equal(decoders.decode_basis(data, "here", factor=factor).texels, texels)


def test_basis_images_count_with_all_others(tmp_path, monkeypatch):
    """Each fits, and both do not: the second is not decoded."""
    extra("opengl_basisu")
    doc = textured("KHR_texture_basisu", ktx2(BLOCKS), False)
    doc.json["images"][1] = doc.json["images"][0]
    doc.json["textures"].append({"source": 1})
    doc.json["materials"][0]["normalTexture"] = {"index": 1}
    load(doc.write(tmp_path))
    monkeypatch.setattr(images, "MAX_SCENE_TEXELS", 2 * TEXELS.shape[0] * TEXELS.shape[1] - 1)
    refused(doc, tmp_path, r"images\[1\]: 12 x 8 texels, more than 95")


HEAD = b"DRACO" + bytes((2, 2, 1))


def size_of(data: bytes, attributes: int = 1) -> int:
    named = {f"A{k}": k for k in range(attributes)}
    return draco_size(JsonObject({"attributes": named}, "a.gltf: it"), data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"DRACP" + bytes(20), "it does not begin with 'DRACO'"),
        (b"DRACO" + bytes((2, 1, 1, 0)) + bytes(9), "version 2.1 of the bitstream"),
        (b"DRACO" + bytes((2, 2, 0, 0)) + bytes(9), "geometry of kind 0, encoded by method 0"),
        (b"DRACO" + bytes((2, 2, 1, 2)) + bytes(9), "geometry of kind 1, encoded by method 2"),
        (HEAD + bytes((0, 0, 0, 5)), "it is cut off"),
        (HEAD + bytes((0, 0, 0)) + b"\xff" * 5 + b"\0", "a number is too long"),
        (HEAD + bytes((0, 0, 0x80, 0)) + bytes((0, 1, 0)) * 40, "metadata are nested too deeply"),
    ],
)
def test_draco_that_is_damaged(data: bytes, words: str) -> None:
    with pytest.raises(ViewerError, match=f"holds no mesh of Draco: {words}"):
        size_of(data)


def ktx(
    width: int = 8, height: int = 4, levels: int = 1, more: tuple[int, int, int] = (0, 0, 1), **change: Any
) -> bytes:
    """A file of UASTC levels, its sizes as the specification has them."""
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<2I", 0, 1) + struct.pack("<6I", width, height, *more, levels)
    head = head.ljust(80, b"\0")
    count = max(levels, 1)
    sizes = [16 * -(-max(width >> k, 1) // 4) * -(-max(height >> k, 1) // 4) for k in range(count)]
    at, index = 80 + 24 * count, b""
    for k, size in enumerate(sizes):
        index += struct.pack("<3Q", at + change.get("shift", 0), size, size + change.get("grow", 0) * (k == count - 1))
        at += size
    return head + index + bytes(at - 80 - 24 * count)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (ktx()[:79], "79 bytes, shorter than the header"),
        (ktx()[:80], "1 levels, but no index"),
        (ktx(0), "0 x 4 x 0 texels"),
        (ktx(more=(1, 0, 1)), "8 x 4 x 1 texels in 0 layers of 1 faces"),
        (ktx(more=(0, 0, 6)), "in 0 layers of 6 faces"),
        (ktx(shift=1), "level 0 takes bytes 105 .. 137 of 136"),
        (ktx(grow=1), "level 0 takes bytes 104 .. 136 of 136, and 33 later"),
        (ktx(levels=4, grow=1), "level 3 takes bytes"),
    ],
)
def test_ktx_that_is_damaged(data: bytes, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        decoders.basis_header(data, "a")
    assert decoders.is_basis(ktx()) and not decoders.is_basis(b"x" + ktx()) and not decoders.is_basis(ktx()[:11])
