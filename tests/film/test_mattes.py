"""Names, their numbers and hashes, and how much of a pixel they cover."""

from __future__ import annotations

import json
import struct
from collections import Counter

import numpy as np
import pytest

from raystream.film import mattes
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

TRIANGLE = Mesh(np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32), name="triangle")


def test_hashes_are_those_of_the_specification() -> None:
    """Vectors of MurmurHash3_x86_32's author and of Cryptomatte's specification."""
    assert [mattes.murmur3_32(text.encode()) for text in ("", "hello", "hello, world")] == [0, 0x248BFA47, 0x149BBB7F]
    assert mattes.murmur3_32(b"The quick brown fox jumps over the lazy dog") == 0x2E4FF723
    assert mattes.murmur3_32(b"", 1) == 0x514E28B7 and mattes.murmur3_32(b"\xff\xff\xff\xff") == 0x76293B50
    for name, value in (
        ("hello", 6.0705627102400005616e-17),
        ("cube", -4.08461912519e15),
        ("sphere", 2.79018604383e15),
        ("plane", 3.66557617593e-11),
    ):
        (found,) = struct.unpack("<f", struct.pack("<I", mattes.name_bits(name)))
        assert found == pytest.approx(value, rel=1e-10)


def test_no_id_is_denormal_or_infinite() -> None:
    names = [f"name {number}" for number in range(5000)]
    bits = np.array([mattes.name_bits(name) for name in names], np.uint32)
    plain = np.array([mattes.murmur3_32(name.encode()) for name in names], np.uint32)
    exponents = bits >> 23 & 255
    assert exponents.min() > 0 and exponents.max() < 255
    odd = (plain >> 23 & 255 == 0) | (plain >> 23 & 255 == 255)
    assert odd.any() and (bits[odd] == plain[odd] ^ (1 << 23)).all() and (bits[~odd] == plain[~odd]).all()


def test_metadata_as_specified() -> None:
    found = mattes.metadata("CryptoObject", {"a cube": 0x12AB, 'quoted "ä"': 0xFFFFFFF0})
    key = f"{mattes.name_bits('CryptoObject'):08x}"[:7]
    assert set(found) == {f"cryptomatte/{key}/{part}" for part in ("name", "hash", "conversion", "manifest")}
    assert found[f"cryptomatte/{key}/name"] == "CryptoObject"
    assert found[f"cryptomatte/{key}/hash"] == "MurmurHash3_32"
    assert found[f"cryptomatte/{key}/conversion"] == "uint32_to_float32"
    manifest = json.loads(found[f"cryptomatte/{key}/manifest"])
    assert manifest == {"a cube": "000012ab", 'quoted "ä"': "fffffff0"}
    assert all(text.isascii() for text in found.values())


@pytest.mark.parametrize("most", [3, 1 << 22])
def test_coverage_counts_every_sample(monkeypatch, most) -> None:
    """Against counters of each pixel, with pairs merged early and late."""
    monkeypatch.setattr(mattes, "MAX_UNMERGED_PAIRS", most)
    random = np.random.default_rng(4)
    pixels, numbers, samples = 40, 9, 30
    seen = random.integers(-1, numbers, (samples, pixels))
    seen[:, :5] = [-1, 0, 3, 3, 8]  # none, and one alone
    counted = mattes.Coverage(pixels, numbers)
    for sample in seen:
        counted.add(sample)
    where, which, times = counted.pairs()
    found: dict[int, Counter] = {pixel: Counter() for pixel in range(pixels)}
    for pixel, number, count in zip(where.tolist(), which.tolist(), times.tolist(), strict=True):
        assert number not in found[pixel]
        found[pixel][number] = count
    for pixel in range(pixels):
        assert found[pixel] == Counter(seen[:, pixel][seen[:, pixel] >= 0].tolist())
    ids, counts = mattes.rank_by_count(where, which, times, pixels, 4)
    for pixel in range(pixels):
        order = sorted(found[pixel].items(), key=lambda item: (-item[1], item[0]))[:4]
        assert list(zip(ids[pixel].tolist(), counts[pixel].tolist(), strict=True))[: len(order)] == order
        assert (ids[pixel, len(order) :] == -1).all() and not counts[pixel, len(order) :].any()


def scene() -> Scene:
    """Nodes root > arm > hand, root > (unnamed) > hand again, and a root by itself; two primitives on the first hand,
    two instances of the second one's mesh, and one directly in the world."""
    there = np.eye(4)
    there[0, 3] = 2.0
    instances = [
        Instance(0, name="hand"),
        Instance(1, name="hand"),
        Instance(0, name="hand"),
        Instance(0, there, name="hand"),
        Instance(0, name="hand 2"),
        Instance(1),
    ]
    hierarchy = Hierarchy.of(
        [-1, 0, 1, 0, 3, -1], np.zeros((6, 3)), [2, 2, 4, 4, 5], names=["root", "arm", "hand", "", "hand", "hand 2"]
    )
    offsets = np.stack([np.eye(4), np.eye(4), np.eye(4), there, np.eye(4)])
    hierarchy = Hierarchy(
        **{**vars(hierarchy), "offsets": offsets, "classes": ["furniture", "", "tool", "", "", "wall"]}
    )
    meshes = [TRIANGLE, Mesh(TRIANGLE.positions, TRIANGLE.triangles, name="other")]
    return Scene(meshes, instances, [Material("red"), Material("red"), Material("")], hierarchy=hierarchy)


def test_objects_are_nodes_and_copies_by_name() -> None:
    found = mattes.objects(scene())
    assert found.indices.tolist() == [0, 0, 1, 2, 3, 4]
    assert found.names == ("hand", "hand 3", "hand 4", "hand 2", "other")


def test_parts_assets_and_classes() -> None:
    found = mattes.parts(scene())
    assert found.indices.tolist() == [0, 0, 1, 1, 2, 3]
    assert found.names == ("root/arm/hand", "root/hand", "hand 2", "other")
    found = mattes.assets(scene())
    assert found.indices.tolist() == [0, 0, 0, 0, 1, 2] and found.names == ("root", "hand 2", "other")
    found = mattes.classes(scene())
    assert found.indices.tolist() == [0, 0, 1, 1, 2, -1] and found.names == ("tool", "furniture", "wall")
    assert mattes.material_names(scene()) == ("red", "red 2", "material 2")
    plain = Scene([TRIANGLE], [Instance(0), Instance(0, name="x"), Instance(0, name="x")])
    assert mattes.objects(plain).names == ("triangle", "x") and mattes.objects(plain).indices.tolist() == [0, 1, 1]
    assert mattes.classes(plain).names == () and mattes.classes(plain).indices.tolist() == [-1] * 3


def test_long_and_odd_names() -> None:
    one, other = "n" * 10_000, "n" * 9_999 + "m"
    assert mattes.shortened(one) != mattes.shortened(other)
    assert all(len(mattes.shortened(name).encode()) <= mattes.MAX_NAME_BYTES for name in (one, other, "ä" * 5000))
    assert mattes.shortened(one) == mattes.shortened(one) and mattes.shortened("short") == "short"
    assert mattes.shortened("\ud800x") == "?x"
    assert mattes.unique(["a", "a", "a 2", "a", one, one]) == (
        *("a", "a 3", "a 2", "a 4"),
        *(mattes.shortened(one), f"{mattes.shortened(one)} 2"),
    )
    assert mattes.unique([""] * 3) == ("", " 2", " 3")
    many = Scene([TRIANGLE], [Instance(0, name=one), Instance(0, name="b")], [Material("m" * 300)])
    assert mattes.long_names(many) == 2


def test_pixels_of_one_number_and_of_many_are_ranked_alike() -> None:
    """Ids and coverages of a layer against counts by a dictionary, of numbers drawn for pixels that see up to nine."""
    draw, width, samples = np.random.default_rng(3), 24, 16
    seen = (draw.integers(0, 9, (samples, width)) * (np.arange(width) % 3) + np.arange(width) % 4) % 9
    seen[:, 5], seen[:3, 7] = -1, -1
    counted = mattes.Coverage(width, 9)
    for each in seen:
        counted.add(each)
    bits = np.array([mattes.name_bits(f"thing {k}") for k in range(9)], np.uint32)
    layer = mattes.cryptomatte_layer(counted.pairs(), bits, np.full((1, width), samples))[0]
    for pixel in range(width):
        counts = {k: int((seen[:, pixel] == k).sum()) for k in range(9)}
        order = sorted((k for k in counts if counts[k]), key=lambda k: (-counts[k], k))[: mattes.RANKS]
        places = np.zeros(2 * mattes.RANKS, np.float32)
        places[: 2 * len(order) : 2] = bits[order].view(np.float32)
        places[1 : 2 * len(order) : 2] = [counts[k] / samples for k in order]
        assert layer[pixel].tobytes() == places.tobytes(), pixel
