"""Mattes: a scene's names with indices that pictures can hold, their coverage of each pixel, and Cryptomatte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from raystream.scene.scene import Scene

# -- which indices a pixel's samples see, and how often: exact counts, ranked for files --------------------------------

MAX_UNMERGED_PAIRS = 1 << 22  # before equal ones are counted together


class Coverage:
    """Counts how often each pixel's samples have each index; -1 is none. Most pixels have a single index, which is
    counted in an array; all further ones are listed as (pixel, index)."""

    def __init__(self, pixels: int, limit: int) -> None:
        """limit : indices are from 0 to below it."""
        self.pixels, self.limit = pixels, max(1, limit)
        self._first = np.full(pixels, -1, np.int64)
        self._count = np.zeros(pixels, np.int32)
        self._others: list[NDArray[np.int64]] = []
        self._merged = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, indices: NDArray) -> None:
        """Count a sample of every pixel. indices : (pixels,)."""
        indices = indices.astype(np.int64)
        unset = (self._first < 0) & (indices >= 0)
        np.copyto(self._first, indices, where=unset)
        is_first = (indices == self._first) & (indices >= 0)
        self._count += is_first
        further = np.flatnonzero(~is_first & (indices >= 0))
        if further.size:
            self._others.append(further * self.limit + indices[further])
            if sum(map(len, self._others)) > MAX_UNMERGED_PAIRS:
                self._merge()

    def _merge(self) -> None:
        """Count equal listed pairs together."""
        keys = np.concatenate([self._merged[0], *self._others])
        counts = np.concatenate([self._merged[1], np.ones(len(keys) - len(self._merged[0]), np.int64)])
        self._others, self._merged = [], sum_by_key(keys, counts)

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Pixels, indices and counts (P,): each pair once."""
        self._merge()
        keys, counts = self._merged
        covered = np.flatnonzero(self._first >= 0)
        pixels = np.concatenate([covered, keys // self.limit])
        indices = np.concatenate([self._first[covered], keys % self.limit])
        return pixels, indices, np.concatenate([self._count[covered].astype(np.int64), counts])


def sum_by_key(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different keys, sorted, and the sum of counts (N,) of each."""
    unique_keys, inverse = np.unique(keys, return_inverse=True)
    return unique_keys, np.bincount(inverse, counts, len(unique_keys)).astype(np.int64)


def rank_by_count(
    pixels: NDArray[np.int64], indices: NDArray[np.int64], counts: NDArray[np.int64], size: int, ranks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(size, ranks) each: the most frequent indices of each of ``size`` pixels, -1 for none, and their counts. pixels,
    indices, counts : (P,) of `Coverage.pairs`. Of equal counts the lower index is first."""
    order = np.lexsort((indices, -counts, pixels))
    pixels, indices, counts = pixels[order], indices[order], counts[order]
    first_rows = np.searchsorted(pixels, pixels, side="left")
    rank = np.arange(len(pixels)) - first_rows
    within = rank < ranks
    ranked_indices, ranked_counts = np.full((size, ranks), -1, np.int64), np.zeros((size, ranks), np.int64)
    ranked_indices[pixels[within], rank[within]] = indices[within]
    ranked_counts[pixels[within], rank[within]] = counts[within]
    return ranked_indices, ranked_counts


# -- names of a scene's objects, parts, assets, semantic classes and materials, with numbers ---------------------------
# Labels are unique: the second of two equal names is followed by " 2". One of more than `MAX_NAME_BYTES` is cut, and
# ends with a checksum of the whole, so that long names differ.

MAX_NAME_BYTES = 256  # of a name, UTF-8


class Labels(NamedTuple):
    """The label of each instance: indices (I,) int32 from 0 in the scene's order, -1 for none; and their names."""

    indices: NDArray[np.int32]
    names: tuple[str, ...]


def objects(scene: Scene) -> Labels:
    """The labels of objects: a node's mesh with all primitives is one, and so is each of several instances on a node.
    An object has the name of its node, else of its mesh."""
    keys = _object_keys(scene)
    # Key of an object -> its first instance, in the order of the objects' last instances.
    first_instances = dict(list({key: index for index, key in reversed(list(enumerate(keys)))}.items())[::-1])
    indices = {key: label for label, key in enumerate(first_instances)}
    names = [_name_of(scene, index) for index in first_instances.values()]
    return Labels(np.array([indices[key] for key in keys], np.int32), unique(names))


def parts(scene: Scene) -> Labels:
    """The labels of parts, paths of node names from the root, joined by /; unnamed nodes are left out. The part of an
    instance without a node is its object."""
    names = [] if scene.hierarchy is None else scene.hierarchy.names

    def path(node: int, index: int) -> str:
        return "/".join(
            filter(None, (*(names[ancestor] for ancestor in _node_path(scene, node)[:-1]), _name_of(scene, index)))
        )

    return _labels_by_node(scene, lambda node: node, path)


def assets(scene: Scene) -> Labels:
    """The labels of assets, trees of nodes, by their roots' names; an instance without a node has its object's."""
    names = [] if scene.hierarchy is None else scene.hierarchy.names
    return _labels_by_node(
        scene,
        lambda node: _node_path(scene, node)[0],
        lambda node, index: names[_node_path(scene, node)[0]] or _name_of(scene, index),
    )


def classes(scene: Scene) -> Labels:
    """The labels of semantic classes, see `raystream.scene.hierarchy.Hierarchy.classes`: the node's, else that of its
    nearest ancestor with one; -1 without any."""
    node_classes = None if scene.hierarchy is None else scene.hierarchy.classes
    if node_classes is None:
        return Labels(np.full(len(scene.instances), -1, np.int32), ())
    inherited: dict[int, str] = {}
    for node, (name, parent) in enumerate(zip(node_classes, scene.hierarchy.parents.tolist(), strict=True)):  # type: ignore[union-attr]
        inherited[node] = name or inherited.get(parent, "")
    keys = ["" if owner < 0 else shortened(inherited[owner]) for owner in _owners(scene)]
    names = tuple(dict.fromkeys(key for key in keys if key))
    indices = {name: index for index, name in enumerate(names)}
    return Labels(np.array([indices.get(key, -1) for key in keys], np.int32), names)


def material_names(scene: Scene) -> tuple[str, ...]:
    """A unique name for each material of the scene."""
    return unique([material.name or f"material {index}" for index, material in enumerate(scene.materials)])


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """The names, `shortened` and made unique: later equal ones get the lowest number that makes another name."""
    short = [shortened(name) for name in names]
    used, visited, labels = set(short), set[str](), list[str]()
    following: dict[str, int] = {}
    for name in short:
        if name in visited:
            suffix = following.get(name, 2)
            while f"{name} {suffix}" in used:
                suffix += 1
            following[name] = suffix + 1
            name = f"{name} {suffix}"
            used.add(name)
        visited.add(name)
        labels.append(name)
    return tuple(labels)


def shortened(name: str) -> str:
    """The name, cut to at most `MAX_NAME_BYTES` in UTF-8; characters without an encoding become "?"."""
    data = name.encode("utf-8", "replace")
    if len(data) <= MAX_NAME_BYTES:
        return data.decode()
    return f"{data[: MAX_NAME_BYTES - 9].decode('utf-8', 'ignore')}~{crc32(data):08x}"


def long_names(scene: Scene) -> int:
    """The number of names of nodes, meshes and materials that are too long."""
    nodes: Iterable[str] = () if scene.hierarchy is None else scene.hierarchy.names
    names = {*nodes, *(item.name for part in (scene.instances, scene.meshes, scene.materials) for item in part)}
    return sum(shortened(name) != name and len(name) > MAX_NAME_BYTES // 4 for name in names)


def _owners(scene: Scene) -> list[int]:
    """(I,) the node of each instance, -1 for none."""
    owners = [] if scene.hierarchy is None else scene.hierarchy.owners.tolist()[: len(scene.instances)]
    return [*owners, *[-1] * (len(scene.instances) - len(owners))]


def _object_keys(scene: Scene) -> list[object]:
    """(I,) keys that are equal for instances of one object, at all times of an animation."""
    offsets = None if scene.hierarchy is None else scene.hierarchy.offsets
    keys: list[object] = []
    for index, (owner, instance) in enumerate(zip(_owners(scene), scene.instances, strict=True)):
        if owner >= 0:
            keys.append((owner, b"" if offsets is None else offsets[index].tobytes()))
        elif instance.name:
            keys.append((instance.name, instance.transform.tobytes()))
        else:
            keys.append(index)
    return keys


def _name_of(scene: Scene, index: int) -> str:
    """The name of an instance, or else of its mesh."""
    instance = scene.instances[index]
    return instance.name or scene.meshes[instance.mesh].name or f"object {index}"


def _node_path(scene: Scene, node: int) -> list[int]:
    """The nodes from the root to this one."""
    assert scene.hierarchy is not None
    nodes = [node]
    while (node := int(scene.hierarchy.parents[node])) >= 0:
        nodes.append(node)
    return nodes[::-1]


def _labels_by_node(scene: Scene, node_of: Callable[[int], int], name_of: Callable[[int, int], str]) -> Labels:
    """Labels by nodes, in order of first appearance; an instance without a node has its object's. node_of : maps an
    instance's node to the one that stands for the label. name_of : its name, by the instance's node and index."""
    by_object = objects(scene)
    names: dict[tuple[bool, int], str] = {}
    keys: list[tuple[bool, int]] = []
    for index, owner in enumerate(_owners(scene)):
        key = (False, int(by_object.indices[index])) if owner < 0 else (True, node_of(owner))
        if key not in names:
            names[key] = by_object.names[key[1]] if owner < 0 else name_of(owner, index)
        keys.append(key)
    order = {key: index for index, key in enumerate(names)}
    return Labels(np.array([order[key] for key in keys], np.int32), unique(list(names.values())))


# -- Cryptomatte: names as hashes with their coverage of each pixel ----------------------------------------------------
# J. Friedman and A. C. Jones, "Fully Automatic ID Mattes with Support for Motion Blur and Transparency", 2015; the
# specification, version 1.2, Psyop 2018. A name's id is MurmurHash3_32 of its UTF-8, as the bits of a float; a pixel's
# pairs of id and coverage are ranked by coverage, two in each layer of RGBA.

RANKS = 6  # pairs of id and coverage of a pixel: three layers of RGBA
_MASK = 0xFFFFFFFF


def murmur3_32(data: bytes, seed: int = 0) -> int:
    """The hash MurmurHash3_x86_32 of the data (A. Appleby, 2011, public domain)."""
    hashed = seed
    for offset in range(0, len(data), 4):
        block = data[offset : offset + 4]
        mixed = int.from_bytes(block, "little") * 0xCC9E2D51 & _MASK
        mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & _MASK
        hashed ^= mixed
        if len(block) == 4:
            hashed = ((hashed << 13 | hashed >> 19) * 5 + 0xE6546B64) & _MASK
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _MASK
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _MASK
    return hashed ^ hashed >> 16


def name_bits(name: str) -> int:
    """A name's id: its hash, with an exponent that is neither all zeros nor all ones, as denormals, infinities and NaN
    do not outlive every program ("uint32_to_float32")."""
    bits = murmur3_32(name.encode("utf-8"))
    return bits ^ 1 << 23 if bits >> 23 & 255 in (0, 255) else bits


def cryptomatte_layer(
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ids: NDArray[np.uint32], samples: NDArray
) -> NDArray[np.float32]:
    """(H, W, 2 `RANKS`) float32, a Cryptomatte layer: ids and coverages in turn.

    pairs : pixels, indices of names and counts, (P,) each, as of `Coverage.pairs`; counts of equal pairs are added.
    ids : `name_bits` of the names. samples : (H, W) numbers of samples.
    """
    height, width = samples.shape
    stride, (pixels, indices, counts) = max(1, len(ids)), pairs
    single = np.bincount(pixels, minlength=1)[pixels] == 1  # most pixels have one index: nothing to add or rank
    keys, sums = sum_by_key((pixels * stride + indices)[~single], counts[~single])
    ranked_indices, ranked_counts = rank_by_count(keys // stride, keys % stride, sums, height * width, RANKS)
    ranked_indices[pixels[single], 0], ranked_counts[pixels[single], 0] = indices[single], counts[single]
    out = np.zeros((height * width, RANKS, 2), np.float32)
    present = ranked_indices >= 0
    out[..., 0][present] = ids[ranked_indices[present]].view(np.float32)
    out[..., 1] = ranked_counts / np.maximum(samples.reshape(-1, 1), 1)
    return out.reshape(height, width, 2 * RANKS)


def metadata(layer: str, names: Mapping[str, int]) -> dict[str, str]:
    """A file's attributes of a Cryptomatte layer. layer : its name in the file. names : name -> `name_bits`."""
    key = f"cryptomatte/{name_bits(layer):08x}"[:-1]
    manifest = {name: f"{bits:08x}" for name, bits in names.items()}
    return {
        f"{key}/name": layer,
        f"{key}/hash": "MurmurHash3_32",
        f"{key}/conversion": "uint32_to_float32",
        f"{key}/manifest": json.dumps(manifest, separators=(",", ":")),
    }


def clashing_count(names: Sequence[str], bits: Iterable[int]) -> int:
    """The number of names whose ``bits`` are those of an earlier name."""
    return len(names) - len(set(bits))
