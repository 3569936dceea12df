"""The layers of a picture that are made beside it: path lengths apart, features, and the ray caster's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.film.device_film import Buffer, FilmBuffer
from raystream.film.error import Stop
from raystream.film.layers import LAYERS, expanded, series
from raystream.film.mattes import MOST_BYTES, Coverage, clashes, layer_of, long_names, metadata, name_bits
from raystream.kernels.light_layers import LIGHT_LAYERS, LIGHT_SUMS, VISIBILITY
from raystream.kernels.records import HIT
from raystream.renderer.inputs.hit_attributes import HitAttributes, PosedFrame, motion
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import HITS, Report, collect
from raystream.renderer.sampling.sampler import FramePlan, TileDone
from raystream.renderer.session.session import Session
from raystream.scene.camera import Camera

# -- layers made on the host of ray hits: numbers of objects and materials, places, and Cryptomattes -------------------

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
        instances = self.of.prepared.instance_indices(flat)
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
                shown = {str(index): names[index] for index in np.unique(layer).tolist() if index >= 0}
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
        instances = self.of.prepared.instance_indices(flat)
        if mask is not None:
            instances[~mask.reshape(-1)] = -1
        materials = self.of.materials(instances, self.of.triangles(flat, instances))
        self.coverage.add(np.where(instances >= 0, instances.astype(np.int64) * self.materials + materials, -1))

    def layer(self, name: str, samples: NDArray) -> NDArray[np.float32]:
        """(H, W, 2 ranks), see `layer_of`. samples : (H, W) of each pixel."""
        pixels, pairs, counts = self.coverage.pairs()
        instances, materials = pairs // self.materials, pairs % self.materials
        labels = self.of.assets if name == "crypto_asset" else self.of.objects
        indices = materials if name == "crypto_material" else labels.indices[instances].astype(np.int64)
        bits = np.array([name_bits(label) for label in MATTES[name](self.of)], np.uint32)
        return layer_of((pixels, indices, counts), bits, samples)


# -- the layers of a picture that are made beside it -------------------------------------------------------------------

HIDDEN_LAYERS = ("shadow", "occlusion")


def checked_layers(renderer: RendererParts, words: Sequence[str]) -> tuple[str, ...]:
    """The layers that words name. Raises ViewerError for one that the renderer's program does not have."""
    program, where = renderer.settings.picture_program, "take --program path"
    names = expanded(words, program.sorts_light)
    if "bounce" in names and not renderer.progressive:
        raise ViewerError("--layers bounce", f"program {program.name} adds no samples", where)
    if "bounce" in names and "photons" in renderer.program().inputs:
        raise ViewerError("--layers bounce", "photons of all path lengths count together in an estimate", where)
    for name in names if not program.sorts_light else ():
        if name in LAYERS and LAYERS[name].paths:
            raise ViewerError(f"--layers {name}", f"program {program.name} traces no paths", where)
    return names


def bounce_layers(
    renderer: RendererParts, size: tuple[int, int], samples: int, progress: Report | None = None
) -> dict[str, NDArray]:
    """A layer (H, W, 3) for each path length in surface interactions, of ``samples`` samples of every pixel."""
    layers: dict[str, NDArray] = {}
    for bounce, name in enumerate(series("bounce", renderer.settings.max_depth + 1)):

        def report(fraction: float, text: str, name: str = name) -> None:
            if progress is not None:
                progress(fraction, f"{name}: {text}")

        session = Session(renderer, size, Stop(samples), bounce=bounce)
        session.finish(progress=report)
        layers[name] = session.linear()
        session.release()
    return layers


def path_layers(
    renderer: RendererParts, film: FilmBuffer, layers: Mapping[str, NDArray], progress: Report | None = None
) -> set[str]:
    """Fill those of a picture's layers, arrays by name, that follow from the paths of its film; their names."""
    light = {name: layers[name] for name in LIGHT_LAYERS if name in layers}
    if light:
        light_layers(renderer, film, light, progress)
    hidden = {name: layers[name] for name in HIDDEN_LAYERS if name in layers}
    if hidden:
        visibility_layers(renderer, film, hidden, progress)
    return {*light, *hidden}


def sorts_light(renderer: RendererParts, layers: Mapping[str, NDArray]) -> bool:
    """Whether layers of light are among a new picture's, by name, and its own paths may be sorted into them."""
    if not renderer.progressive or layers.keys().isdisjoint(LIGHT_LAYERS):
        return False
    return renderer.sampler.sorts_light(renderer.settings, renderer.camera)


def light_layers(
    renderer: RendererParts, film: FilmBuffer, layers: dict[str, NDArray], progress: Report | None = None
) -> None:
    """Fill the layers of light, arrays by name, of the samples that a path traced film has: those sorted with it, or
    by the same paths once more."""
    if film.light is not None:
        with renderer.device.current():
            means(film.light, layers)
        return
    with renderer.device.current():
        sums = Buffer(renderer.device, LIGHT_SUMS, film.size)
    try:
        plan = FramePlan(renderer.settings, renderer.camera, film.size, samples=max(1, film.samples))
        for fraction in renderer.sampler.light_layers(plan, film, sums):
            if progress is not None:
                progress(fraction, "layers of light")
        with renderer.device.current():
            means(sums, layers)
    finally:
        with renderer.device.current():
            sums.release()


def means(sums: Buffer, layers: Mapping[str, NDArray]) -> None:
    """Fill layers (H, W, 3), fields of the sums' record by name, with the means of their samples."""
    totals = sums.fields((*layers, "count"))
    for name, layer in layers.items():
        np.divide(totals[name], np.maximum(totals["count"], 1)[..., None], out=layer)


def visibility_layers(
    renderer: RendererParts, film: FilmBuffer, layers: dict[str, NDArray], progress: Report | None = None
) -> None:
    """Fill ``shadow`` and ``occlusion``, arrays by name, of the samples that a path traced film has."""
    with renderer.device.current():
        buffer = Buffer(renderer.device, VISIBILITY, film.size)
    try:
        plan = FramePlan(renderer.settings, renderer.camera, film.size, samples=max(1, film.samples))
        requested = "shadow" in layers, "occlusion" in layers
        for fraction in renderer.sampler.visibility(plan, film, buffer, *requested):
            if progress is not None:
                progress(fraction, "shadow and occlusion")
        with renderer.device.current():
            sums = buffer.fields()
        if "shadow" in layers:
            lit = sums["light"] > 0
            np.divide(sums["hidden"], np.where(lit, sums["light"], 1), out=layers["shadow"])
        if "occlusion" in layers:
            np.divide(sums["near"], np.maximum(sums["count"], 1), out=layers["occlusion"])
    finally:
        with renderer.device.current():
            buffer.release()


def feature_layers(buffer: Buffer, layers: dict[str, NDArray]) -> None:
    """Fill the feature layers, arrays by name, with averages over the samples of a buffer of `FEATURES`, through the
    lens and the pixel filter of the picture: normal and albedo, to which a ray without a hit adds 0, and the depth of
    the hit."""
    with buffer.device.current():
        sums = buffer.read()
    count, hits = np.maximum(sums["count"], 1), sums["hits"]
    for name, layer in layers.items():
        if name == "depth":
            layer[...] = np.where(hits > 0, sums["depth"] / np.maximum(hits, 1), np.inf)
        else:
            layer[...] = sums[name] / count[..., None]


def cast_layers(
    renderer: RendererParts,
    size: tuple[int, int],
    layers: dict[str, NDArray],
    counting: bool,
    progress: Report | None = None,
) -> None:
    """Fill the ray caster's layers, arrays by name, beside a progressive program."""
    settings = renderer.settings.replace(program="cast")
    plan = FramePlan(settings, renderer.camera, size, layers=tuple(layers), counting=counting)
    for event in renderer.sampler.render_tiles(plan):
        if isinstance(event, TileDone):
            collect(event.tile, renderer.device, renderer.prepared, None, layers)
        if progress is not None:
            progress(event.share, "layers")
