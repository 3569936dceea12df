"""Animations of glTF 2.0 (section 3.11): channels and samplers to tracks over the scene's nodes."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from viewer.formats.files import short
from viewer.formats.gltf.accessors import Accessors
from viewer.formats.gltf.json import Object, Objects
from viewer.formats.gltf.motion.targets import target_count
from viewer.formats.gltf.nodes import Nodes
from viewer.scene.animation import INTERPOLATIONS, PATHS, Animation, Track

_FLOAT = 5126
# Memory of a track with its JSON objects.
_TRACK_BYTES = 512


def read_animations(document: Object, nodes: Nodes, accessors: Accessors, warnings: list[str]) -> list[Animation]:
    """The document's animations, unnamed ones named by number; tracks refer to nodes by index in ``nodes``.

    Warns of omitted channels: of extensions' targets, of weights without morph targets, and without a node. Channels of
    nodes outside
    the scene are checked and silently omitted. Raises ViewerError for references out of range, invalid key times or
    values, an unknown interpolation, a node with a matrix, and two channels for the same property. Key times must be
    finite and increase from 0.
    """
    place = {number: k for k, number in enumerate(nodes.numbers)}
    keys = _Keys(accessors)
    left_out: Counter[str] = Counter()
    animations = []
    for number, item in enumerate(document.objects("animations")):
        reader = _Animation(item, document, keys, left_out)
        tracks = [track for track in map(reader.track, item.objects("channels")) if track is not None]
        placed = tuple(
            Track(place[track.node], track.path, track.times, track.values, track.interpolation)
            for track in tracks
            if track.node in place
        )
        animations.append(Animation(item.text("name", "") or f"animation {number}", placed))
    warnings.extend(f"{count:,} animation channels {what}" for what, count in left_out.items())
    return animations


def animated_weights(document: Object) -> set[int]:
    """The numbers of the nodes whose weights of morph targets some animation moves."""
    found = set()
    for item in document.objects("animations"):
        for channel in item.objects("channels"):
            target = channel.child("target")
            if target.text("path", "") == "weights" and isinstance(target.data.get("node"), int):
                found.add(target.data["node"])
    return found


class _Animation:
    """Reads the channels of one animation."""

    def __init__(self, item: Object, document: Object, keys: _Keys, left_out: Counter[str]) -> None:
        self.samplers, self.nodes = item.objects("samplers"), document.objects("nodes")
        self.meshes = document.objects("meshes")
        self.keys, self.left_out = keys, left_out
        self.seen: dict[tuple[int, str], str] = {}

    def track(self, channel: Object) -> Track | None:
        """A channel's track with the file's node number; None if omitted."""
        self.keys.accessors.budget.charge(_TRACK_BYTES)
        sampler = self.samplers[channel.index("sampler", len(self.samplers), "sampler")]
        target = channel.child("target")
        path = target.text("path")
        if path not in PATHS:
            self.left_out[f"move {short(path)}, which is ignored"] += 1
            return None
        node = target.index("node", len(self.nodes), "node", None)
        if node is None:
            self.left_out["name no node and are ignored"] += 1
            return None
        width = PATHS[path]
        if width is None:
            width = self._targets(self.nodes[node])
            if not width:
                self.left_out["move weights of nodes without morph targets, and are ignored"] += 1
                return None
        elif "matrix" in self.nodes[node]:
            raise target.fail("node", f"node {node} has a matrix", "animated nodes have translation, rotation, scale")
        before = self.seen.setdefault((node, path), channel.where)
        if before != channel.where:
            first = before.split(": ")[-1]
            raise target.fail("path", f"{path} of node {node} is moved by {first}, too", "one channel can move it")
        interpolation = sampler.text("interpolation", "LINEAR")
        if interpolation not in INTERPOLATIONS:
            expected = ", ".join(INTERPOLATIONS)
            raise sampler.fail("interpolation", f"unknown: {short(interpolation)}", f"expected one of {expected}")
        return Track(node, path, *self.keys.of(sampler, path, width, interpolation), interpolation)

    def _targets(self, node: Object) -> int:
        """Morph targets of a node's mesh; 0 without a mesh."""
        mesh = node.index("mesh", len(self.meshes), "mesh", None)
        return 0 if mesh is None else target_count(self.meshes[mesh])


class _Keys:
    """Times and values of samplers; each pair of accessors is checked once, shared by samplers."""

    def __init__(self, accessors: Accessors) -> None:
        self.accessors = accessors
        self._times: dict[int, NDArray] = {}
        self._values: dict[tuple[int, str, int, bool], NDArray] = {}

    def of(self, sampler: Object, path: str, width: int, interpolation: str) -> tuple[NDArray, NDArray]:
        """times (K,) and values (K, width), for splines (K, 3, width), float32, as in `Track`."""
        times = self._input(sampler)
        spline = interpolation == "CUBICSPLINE"
        if spline and len(times) < 2:
            raise sampler.fail("input", "one key", "a cubic spline has two or more")
        values = self._output(sampler, path, width, spline)
        if len(values) != len(times) or values.ndim != 2 + spline or values.shape[-1] != width:
            count = self._count("output", sampler)
            wanted = len(times) * (3 if spline else 1)
            each = " (a tangent before and behind every value)" if spline else ""
            if path == "weights":
                wanted, each = wanted * width, f" (of {width:,} morph targets)" + each
            raise sampler.fail("output", f"{count:,} values for {len(times):,} keys, expected {wanted:,}{each}")
        return times, values

    def _input(self, sampler: Object) -> NDArray:
        number = sampler.index("input", len(self.accessors.accessors), "accessor")
        if number not in self._times:
            if self.accessors.accessors[number].integer("componentType") != _FLOAT:
                raise sampler.fail("input", f"accessor {number} holds integers", "times are float32 seconds")
            times = self.accessors.floats("input", sampler, (1,))[:, 0]
            fault = _fault(times)
            if fault:
                raise sampler.fail("input", f"accessor {number}: {fault}")
            self._times[number] = times
        return self._times[number]

    def _output(self, sampler: Object, path: str, width: int, spline: bool) -> NDArray:
        """Values (N, width), in threes for a spline; (N, stored width) where their number is no multiple of these."""
        number = sampler.index("output", len(self.accessors.accessors), "accessor")
        key = (number, path, width, spline)
        if key not in self._values:
            # Integer quaternions and weights are normalised, with or without the accessor's flag.
            stored = 1 if path == "weights" else width
            values = self.accessors.floats("output", sampler, (stored,), normalize=path in ("rotation", "weights"))
            if len(values) % (width // stored) == 0:
                values = values.reshape(-1, width)
            finite = np.isfinite(values).all(axis=1)
            if not finite.all():
                raise sampler.fail("output", f"accessor {number}: value {int(np.argmin(finite))} is not finite")
            if spline and len(values) % 3 == 0:
                values = values.reshape(-1, 3, values.shape[1])
            self._values[key] = values
        return self._values[key]

    def _count(self, key: str, sampler: Object) -> int:
        accessors: Objects = self.accessors.accessors
        return accessors[sampler.index(key, len(accessors), "accessor")].integer("count")


def _fault(times: NDArray) -> str:
    """The fault of key times, or an empty text."""
    if not len(times):
        return "no keys"
    finite = np.isfinite(times)
    if not finite.all():
        return f"key {int(np.argmin(finite))} is not finite"
    if times[0] < 0:
        return f"the first key is at {times[0]:g} seconds, before 0"
    rising = times[1:] > times[:-1]
    if not rising.all():
        key = int(np.argmin(rising)) + 1
        return f"key {key} at {times[key]:g} seconds is not after the one before it, at {times[key - 1]:g}"
    return ""
