"""Layers made on the host of ray hits: numbers of objects and materials, places, and Cryptomattes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.film.layers import LAYERS
from raystream.film.mattes import MOST_BYTES, Coverage, clashes, layer_of, long_names, metadata, name_bits
from raystream.kernels.records import HIT
from raystream.renderer.inputs.hit_attributes import HitAttributes
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.motion_layer import PosedFrame, motion
from raystream.renderer.sampling.picture import HITS
from raystream.scene.camera import Camera

Names = Callable[[HitAttributes], Sequence[str]]
NAMES: Mapping[str, Names] = {
    "object": lambda of: of.objects.names,
    "material": lambda of: of.material_names,
    "class": lambda of: of.classes.names,
    "part": lambda of: of.parts.names,
}
MATTES: Mapping[str, Names] = {
    "crypto_object": NAMES["object"],
    "crypto_material": NAMES["material"],
    "crypto_asset": lambda of: of.assets.names,
}
CENTRES = (*NAMES, "uv", "position", "motion")  # of the pixels' centres
SEEN = ("triangle", "instance")  # fields of a hit by which it is known what it is on


class HitLayers:
    """The layers of a picture that follow from its hits and the scene's data: of the pixels' centres, and Cryptomattes
    of all samples. Those of no such kind are left alone."""

    def __init__(
        self, prepared: PreparedScene, layers: Mapping[str, NDArray], size: tuple[int, int], sampled: bool
    ) -> None:
        """layers : all of the picture, by name. size : (width, height). sampled : Cryptomattes count the picture's
        samples by `see`; else they are of the pixels' centres, too."""
        self.of = HitAttributes(prepared)
        self.layers = {name: layer for name, layer in layers.items() if name in (*CENTRES, *MATTES)}
        mattes = not self.layers.keys().isdisjoint(MATTES)
        self.counts = MatteCounts(self.of, size[0] * size[1]) if mattes else None
        self.sampled = mattes and sampled
        centres = not self.layers.keys().isdisjoint(CENTRES) or (mattes and not sampled)
        self.hits = np.zeros(size[::-1], HIT.dtype) if centres else None

    def traced(self, layers: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The layers that the ray caster fills, of those that the picture has: with its hits in place of these."""
        cast = {name: layer for name, layer in layers.items() if name not in self.layers}
        return cast if self.hits is None else {**cast, HITS: self.hits}

    def see(self, hits: Mapping[str, NDArray], more: NDArray[np.bool_] | None = None) -> None:
        """Count the hits of a sample of every pixel, or of those with ``more`` samples; two fields (H, W) of `HIT`."""
        assert self.counts is not None
        self.counts.add(hits, more)

    def fill(self, camera: Camera, samples: NDArray, before: PosedFrame | None = None) -> None:
        """Fill the layers. samples : (H, W) that the pixels have. before : the last frame, as far as it is known."""
        if self.hits is not None:
            self._fill(camera, self.hits, before)
        if self.counts is not None:
            if not self.sampled and self.hits is not None:
                self.counts.add({name: self.hits[name] for name in SEEN})
            for name in MATTES.keys() & self.layers.keys():
                self.layers[name][...] = self.counts.layer(name, samples)

    def _fill(self, camera: Camera, hits: NDArray, before: PosedFrame | None) -> None:
        flat = hits.reshape(-1)
        instances = self.of.prepared.instance_numbers(flat)
        triangles = self.of.triangles(flat, instances)
        places = positions(camera, hits) if {"position", "motion"} & self.layers.keys() else None
        for name, layer in self.layers.items():
            if name == "uv":
                layer[...] = self.of.uvs(flat, instances, triangles).reshape(layer.shape)
            elif name == "position" and places is not None:
                hit = (hits["triangle"] >= 0)[..., None]
                layer[...] = np.where(hit, np.add(places, camera.base), 0.0)
            elif name == "motion":
                if before is not None and places is not None:
                    layer[...] = motion(self.of, camera, before, hits, places)
            elif name == "material":
                layer[...] = self.of.materials(instances, triangles).reshape(hits.shape)
            elif name in NAMES:
                labels = {"object": self.of.objects, "class": self.of.classes, "part": self.of.parts}[name]
                layer[...] = self.of.labels(labels, instances).reshape(hits.shape)

    def metadata(self) -> dict[str, str]:
        """The names behind the numbers and ids in the layers, as attributes of a file: those that the picture shows."""
        attributes: dict[str, str] = {}
        for name, layer in self.layers.items():
            if name in NAMES:
                names = NAMES[name](self.of)
                shown = {str(number): names[number] for number in np.unique(layer).tolist() if number >= 0}
                attributes[f"{name} names"] = json.dumps(shown, separators=(",", ":"))
            elif name in MATTES:
                ids = set(np.unique(np.ascontiguousarray(layer[..., ::2]).view(np.uint32)).tolist())
                every = {label: name_bits(label) for label in MATTES[name](self.of)}
                shown_ids = {label: bits for label, bits in every.items() if bits in ids}
                attributes |= metadata(LAYERS[name].stem, shown_ids)
        return attributes

    def remarks(self) -> list[str]:
        """Remarks on names that are cut, and on ids that several names share."""
        said, named = [], [name for name in self.layers if name in (*NAMES, *MATTES)]
        if named and (cut := long_names(self.of.scene)):
            said.append(f"{cut:,} names of more than {MOST_BYTES} bytes are cut in layers, and end with a checksum")
        for name in named:
            names = MATTES[name](self.of) if name in MATTES else ()
            if shared := clashes(names, map(name_bits, names)):
                said.append(f"{name}: {shared:,} of {len(names):,} names share an id of 32 bits with another")
        return said


def positions(camera: Camera, hits: NDArray) -> NDArray[np.float64]:
    """(H, W, 3): the points in world space that rays through the pixels' centres hit, zeros where there is none."""
    origins, directions = camera.rays(*hits.shape[::-1])
    hit = hits["triangle"] >= 0
    return np.where(hit[..., None], origins + np.where(hit, hits["t"], 0.0)[..., None] * directions, 0.0)


class MatteCounts:
    """The objects and materials that the samples of a picture's pixels see, counted."""

    def __init__(self, of: HitAttributes, pixels: int) -> None:
        self.of, self.materials = of, max(1, len(of.material_names))
        self.coverage = Coverage(pixels, max(1, len(of.scene.instances)) * self.materials)

    def add(self, hits: Mapping[str, NDArray], mask: NDArray[np.bool_] | None = None) -> None:
        """One sample of every pixel, or of those in ``mask``: the fields `SEEN` (H, W) of `HIT`."""
        flat = {name: hits[name].reshape(-1) for name in SEEN}
        instances = self.of.prepared.instance_numbers(flat)
        if mask is not None:
            instances[~mask.reshape(-1)] = -1
        materials = self.of.materials(instances, self.of.triangles(flat, instances))
        self.coverage.add(np.where(instances >= 0, instances.astype(np.int64) * self.materials + materials, -1))

    def layer(self, name: str, samples: NDArray) -> NDArray[np.float32]:
        """(H, W, 2 ranks), see `layer_of`. samples : (H, W) of each pixel."""
        pixels, pairs, counts = self.coverage.pairs()
        instances, materials = pairs // self.materials, pairs % self.materials
        labels = self.of.assets if name == "crypto_asset" else self.of.objects
        numbers = materials if name == "crypto_material" else labels.numbers[instances].astype(np.int64)
        bits = np.array([name_bits(label) for label in MATTES[name](self.of)], np.uint32)
        return layer_of((pixels, numbers, counts), bits, samples)
