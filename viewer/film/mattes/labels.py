"""Names of a scene's objects, parts, assets, semantic classes and materials, with numbers that pictures can hold.

Every name is told once: the second of two equal ones is followed by " 2". One of more than `MOST_BYTES` is cut, and
ends with a checksum of the whole, so that long names stay apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from raystream.scene.scene import Scene

MOST_BYTES = 256  # of a name, UTF-8


class Labels(NamedTuple):
    """The label of each instance: numbers (I,) int32 from 0 in the scene's order, -1 for none; and their names."""

    numbers: NDArray[np.int32]
    names: tuple[str, ...]


def objects(scene: Scene) -> Labels:
    """Objects: a mesh on a node with all its primitives, and each instance of a node's many by itself.

    Named as the node is, else as the mesh.
    """
    keys = _object_keys(scene)
    first = list({key: number for number, key in reversed(list(enumerate(keys)))}.items())[::-1]
    numbers = {key: place for place, (key, _) in enumerate(first)}
    names = [_name_of(scene, number) for _, number in first]
    return Labels(np.array([numbers[key] for key in keys], np.int32), unique(names))


def parts(scene: Scene) -> Labels:
    """Node paths: the names from the root to the instance's node, with / between; nodes without a name are left out.

    Without a node it is the object.
    """
    names = [] if scene.hierarchy is None else scene.hierarchy.names

    def path(node: int, number: int) -> str:
        return "/".join(
            filter(None, (*(names[ancestor] for ancestor in _path(scene, node)[:-1]), _name_of(scene, number)))
        )

    return _by_node(scene, lambda node: node, path)


def assets(scene: Scene) -> Labels:
    """Trees of nodes, by the names of their roots; without a node it is the object itself."""
    names = [] if scene.hierarchy is None else scene.hierarchy.names
    return _by_node(
        scene,
        lambda node: _path(scene, node)[0],
        lambda node, number: names[_path(scene, node)[0]] or _name_of(scene, number),
    )


def classes(scene: Scene) -> Labels:
    """Semantic classes, see `raystream.scene.hierarchy.Hierarchy.classes`: the node's, else that of the nearest node
    above it which has one. In order of their first appearance; -1 without one."""
    node_classes = None if scene.hierarchy is None else scene.hierarchy.classes
    if node_classes is None:
        return Labels(np.full(len(scene.instances), -1, np.int32), ())
    below: dict[int, str] = {}
    for node, (name, parent) in enumerate(zip(node_classes, scene.hierarchy.parents.tolist(), strict=True)):  # type: ignore[union-attr]
        below[node] = name or below.get(parent, "")
    keys = ["" if owner < 0 else shortened(below[owner]) for owner in _owners(scene)]
    names = tuple(dict.fromkeys(key for key in keys if key))
    places = {name: place for place, name in enumerate(names)}
    return Labels(np.array([places.get(key, -1) for key in keys], np.int32), names)


def material_names(scene: Scene) -> tuple[str, ...]:
    """One for each material of the scene."""
    return unique([material.name or f"material {number}" for number, material in enumerate(scene.materials)])


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """The names, `shortened`, each told once: later equal ones get the next number that makes another name."""
    short = [shortened(name) for name in names]
    used, visited, labels = set(short), set[str](), list[str]()
    following: dict[str, int] = {}
    for name in short:
        if name in visited:
            number = following.get(name, 2)
            while f"{name} {number}" in used:
                number += 1
            following[name] = number + 1
            name = f"{name} {number}"
            used.add(name)
        visited.add(name)
        labels.append(name)
    return tuple(labels)


def shortened(name: str) -> str:
    """A name of at most `MOST_BYTES` in UTF-8; characters that it has no bytes for become "?"."""
    data = name.encode("utf-8", "replace")
    if len(data) <= MOST_BYTES:
        return data.decode()
    return f"{data[: MOST_BYTES - 9].decode('utf-8', 'ignore')}~{crc32(data):08x}"


def long_names(scene: Scene) -> int:
    """How many names of nodes, meshes and materials are cut."""
    nodes: Iterable[str] = () if scene.hierarchy is None else scene.hierarchy.names
    names = {*nodes, *(item.name for part in (scene.instances, scene.meshes, scene.materials) for item in part)}
    return sum(shortened(name) != name and len(name) > MOST_BYTES // 4 for name in names)


def _owners(scene: Scene) -> list[int]:
    """(I,) the node of each instance, -1: none."""
    owners = [] if scene.hierarchy is None else scene.hierarchy.owners.tolist()[: len(scene.instances)]
    return [*owners, *[-1] * (len(scene.instances) - len(owners))]


def _object_keys(scene: Scene) -> list[object]:
    """(I,) equal for instances of one object, whatever the time."""
    offsets = None if scene.hierarchy is None else scene.hierarchy.offsets
    keys: list[object] = []
    for number, (owner, instance) in enumerate(zip(_owners(scene), scene.instances, strict=True)):
        if owner >= 0:
            keys.append((owner, b"" if offsets is None else offsets[number].tobytes()))
        elif instance.name:
            keys.append((instance.name, instance.transform.tobytes()))
        else:
            keys.append(number)
    return keys


def _name_of(scene: Scene, number: int) -> str:
    instance = scene.instances[number]
    return instance.name or scene.meshes[instance.mesh].name or f"object {number}"


def _path(scene: Scene, node: int) -> list[int]:
    """The nodes from the root to this one."""
    assert scene.hierarchy is not None
    nodes = [node]
    while (node := int(scene.hierarchy.parents[node])) >= 0:
        nodes.append(node)
    return nodes[::-1]


def _by_node(scene: Scene, node_of: Callable[[int], int], name_of: Callable[[int, int], str]) -> Labels:
    """By the value of ``node_of`` for an instance's node, in order of first appearance. name_of : by the node and the
    number of the first such instance."""
    by_object = objects(scene)
    names: dict[tuple[bool, int], str] = {}
    keys: list[tuple[bool, int]] = []
    for number, owner in enumerate(_owners(scene)):
        key = (False, int(by_object.numbers[number])) if owner < 0 else (True, node_of(owner))
        if key not in names:
            names[key] = by_object.names[key[1]] if owner < 0 else name_of(owner, number)
        keys.append(key)
    order = {key: number for number, key in enumerate(names)}
    return Labels(np.array([order[key] for key in keys], np.int32), unique(list(names.values())))
