"""The layers of a picture by other means than its film: of its hits, of single path lengths, of light and visibility,
features, and the ray caster's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.film.device_film import Buffer, FilmBuffer
from raystream.film.error import Stop
from raystream.film.layers import LAYERS, expanded, series
from raystream.film.mattes import (
    MAX_NAME_BYTES,
    Coverage,
    clashing_count,
    cryptomatte_layer,
    long_names,
    metadata,
    name_bits,
)
from raystream.kernels.light_layers import LIGHT_LAYERS, LIGHT_SUMS, VISIBILITY
from raystream.kernels.records import HIT
from raystream.renderer.inputs.hit_attributes import HitAttributes, PosedFrame, motion
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import HITS, Report, read_back_tile
from raystream.renderer.sampling.sampler import FramePlan, TileDone
from raystream.renderer.session.session import Session
from raystream.scene.camera import Camera

# -- layers computed on the host from hits: indices of objects and materials, positions, Cryptomattes ------------------

Names = Callable[[HitAttributes], Sequence[str]]
LABEL_NAMES: Mapping[str, Names] = {
    "object": lambda attributes: attributes.objects.names,
    "material": lambda attributes: attributes.material_names,
    "class": lambda attributes: attributes.classes.names,
    "part": lambda attributes: attributes.parts.names,
}
MATTE_NAMES: Mapping[str, Names] = {
    "crypto_object": LABEL_NAMES["object"],
    "crypto_material": LABEL_NAMES["material"],
    "crypto_asset": lambda attributes: attributes.assets.names,
}
CENTRE_LAYERS = (*LABEL_NAMES, "uv", "position", "motion")  # of hits through the pixels' centres
HIT_FIELDS = ("triangle", "instance")  # the fields of a hit that Cryptomattes need


class HitLayers:
    """The layers of a picture that are computed from hits and the scene's data: those of `CENTRE_LAYERS` from hits
    through the pixels' centres, and Cryptomattes from all samples."""

    def __init__(
        self, prepared: PreparedScene, layers: Mapping[str, NDArray], size: tuple[int, int], counts_samples: bool
    ) -> None:
        """layers : all of the picture, by name; others are left alone. size : (width, height). counts_samples : the
        picture's samples are passed to `count_sample`; else Cryptomattes are of the pixels' centres, too."""
        self.attributes = HitAttributes(prepared)
        self.layers = {name: layer for name, layer in layers.items() if name in (*CENTRE_LAYERS, *MATTE_NAMES)}
        mattes = not self.layers.keys().isdisjoint(MATTE_NAMES)
        self.counts = MatteCounts(self.attributes, size[0] * size[1]) if mattes else None
        self.counts_samples = mattes and counts_samples
        centres = not self.layers.keys().isdisjoint(CENTRE_LAYERS) or (mattes and not counts_samples)
        self.hits = np.zeros(size[::-1], HIT.dtype) if centres else None

    def cast_layers(self, layers: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The layers that the ray caster has to write: those of ``layers`` that are not of hits, and its hits if
        needed."""
        cast = {name: layer for name, layer in layers.items() if name not in self.layers}
        return cast if self.hits is None else {**cast, HITS: self.hits}

    def count_sample(self, hits: Mapping[str, NDArray], more: NDArray[np.bool_] | None = None) -> None:
        """Count a sample of every pixel, or where ``more`` (H, W) is true, by `HIT_FIELDS` (H, W) of its hits."""
        assert self.counts is not None
        self.counts.add(hits, more)

    def write(self, camera: Camera, samples: NDArray, before: PosedFrame | None = None) -> None:
        """Write the layers. samples : (H, W) numbers of the pixels' samples. before : the last frame, for motion."""
        if self.hits is not None:
            self._write_centre_layers(camera, self.hits, before)
        if self.counts is not None:
            if not self.counts_samples and self.hits is not None:
                self.counts.add({name: self.hits[name] for name in HIT_FIELDS})
            for name in MATTE_NAMES.keys() & self.layers.keys():
                self.layers[name][...] = self.counts.layer(name, samples)

    def _write_centre_layers(self, camera: Camera, hits: NDArray, before: PosedFrame | None) -> None:
        """Write the layers of `CENTRE_LAYERS`. hits : (H, W) of `HIT`, through the pixels' centres."""
        flat = hits.reshape(-1)
        instances = self.attributes.prepared.instance_indices(flat)
        triangles = self.attributes.triangles(flat, instances)
        points = positions(camera, hits) if {"position", "motion"} & self.layers.keys() else None
        for name, layer in self.layers.items():
            if name == "uv":
                layer[...] = self.attributes.uvs(flat, instances, triangles).reshape(layer.shape)
            elif name == "position" and points is not None:
                hit = (hits["triangle"] >= 0)[..., None]
                layer[...] = np.where(hit, np.add(points, camera.base), 0.0)
            elif name == "motion":
                if before is not None and points is not None:
                    layer[...] = motion(self.attributes, camera, before, hits, points)
            elif name == "material":
                layer[...] = self.attributes.materials(instances, triangles).reshape(hits.shape)
            elif name in LABEL_NAMES:
                labels = {
                    "object": self.attributes.objects,
                    "class": self.attributes.classes,
                    "part": self.attributes.parts,
                }[name]
                layer[...] = self.attributes.labels(labels, instances).reshape(hits.shape)

    def metadata(self) -> dict[str, str]:
        """The names of the indices and ids that occur in the layers, as a file's attributes."""
        attributes: dict[str, str] = {}
        for name, layer in self.layers.items():
            if name in LABEL_NAMES:
                names = LABEL_NAMES[name](self.attributes)
                used = {str(index): names[index] for index in np.unique(layer).tolist() if index >= 0}
                attributes[f"{name} names"] = json.dumps(used, separators=(",", ":"))
            elif name in MATTE_NAMES:
                ids = set(np.unique(np.ascontiguousarray(layer[..., ::2]).view(np.uint32)).tolist())
                label_ids = {label: name_bits(label) for label in MATTE_NAMES[name](self.attributes)}
                used_ids = {label: bits for label, bits in label_ids.items() if bits in ids}
                attributes |= metadata(LAYERS[name].stem, used_ids)
        return attributes

    def remarks(self) -> list[str]:
        """Remarks for the user on names that are cut, and on ids that several names share."""
        remarks, named = [], [name for name in self.layers if name in (*LABEL_NAMES, *MATTE_NAMES)]
        if named and (cut := long_names(self.attributes.scene)):
            remarks.append(
                f"{cut:,} names of more than {MAX_NAME_BYTES} bytes are cut in layers, and end with a checksum"
            )
        for name in named:
            names = MATTE_NAMES[name](self.attributes) if name in MATTE_NAMES else ()
            if shared := clashing_count(names, map(name_bits, names)):
                remarks.append(f"{name}: {shared:,} of {len(names):,} names share an id of 32 bits with another")
        return remarks


def positions(camera: Camera, hits: NDArray) -> NDArray[np.float64]:
    """(H, W, 3): the points, world space, of hits (H, W) of rays through the pixels' centres; zeros without a hit."""
    origins, directions = camera.rays(*hits.shape[::-1])
    hit = hits["triangle"] >= 0
    return np.where(hit[..., None], origins + np.where(hit, hits["t"], 0.0)[..., None] * directions, 0.0)


class MatteCounts:
    """Counts the samples of each pixel by the instance and material that they hit."""

    def __init__(self, attributes: HitAttributes, pixels: int) -> None:
        self.attributes, self.materials = attributes, max(1, len(attributes.material_names))
        self.coverage = Coverage(pixels, max(1, len(attributes.scene.instances)) * self.materials)

    def add(self, hits: Mapping[str, NDArray], mask: NDArray[np.bool_] | None = None) -> None:
        """Count a sample of every pixel, or of those in ``mask`` (H, W), by `HIT_FIELDS` (H, W) of its hits."""
        flat = {name: hits[name].reshape(-1) for name in HIT_FIELDS}
        instances = self.attributes.prepared.instance_indices(flat)
        if mask is not None:
            instances[~mask.reshape(-1)] = -1
        materials = self.attributes.materials(instances, self.attributes.triangles(flat, instances))
        self.coverage.add(np.where(instances >= 0, instances.astype(np.int64) * self.materials + materials, -1))

    def layer(self, name: str, samples: NDArray) -> NDArray[np.float32]:
        """The Cryptomatte layer ``name``, (H, W, 2 ranks), see `cryptomatte_layer`. samples : (H, W) numbers of
        samples."""
        pixels, pairs, counts = self.coverage.pairs()
        instances, materials = pairs // self.materials, pairs % self.materials
        labels = self.attributes.assets if name == "crypto_asset" else self.attributes.objects
        indices = materials if name == "crypto_material" else labels.indices[instances].astype(np.int64)
        bits = np.array([name_bits(label) for label in MATTE_NAMES[name](self.attributes)], np.uint32)
        return cryptomatte_layer((pixels, indices, counts), bits, samples)


# -- layers rendered by further runs of programs -----------------------------------------------------------------------

HIDDEN_LAYERS = ("shadow", "occlusion")


def checked_layers(renderer: RendererParts, words: Sequence[str]) -> tuple[str, ...]:
    """The names of the layers that ``words`` stand for. Raises ViewerError for one that the program does not have."""
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
    """Layers (H, W, 3), by name, of the light of each path length in surface interactions, by ``samples`` samples."""
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


def write_path_layers(
    renderer: RendererParts, film: FilmBuffer, layers: Mapping[str, NDArray], progress: Report | None = None
) -> set[str]:
    """Write those of a picture's layers, arrays by name, that its film's paths determine; returns their names."""
    light = {name: layers[name] for name in LIGHT_LAYERS if name in layers}
    if light:
        write_light_layers(renderer, film, light, progress)
    hidden = {name: layers[name] for name in HIDDEN_LAYERS if name in layers}
    if hidden:
        write_visibility_layers(renderer, film, hidden, progress)
    return {*light, *hidden}


def can_sort_light(renderer: RendererParts, layers: Mapping[str, NDArray]) -> bool:
    """Whether layers of light are among a new picture's ``layers``, and the picture's paths can be sorted into them."""
    if not renderer.progressive or layers.keys().isdisjoint(LIGHT_LAYERS):
        return False
    return renderer.sampler.sorts_light(renderer.settings, renderer.camera)


def write_light_layers(
    renderer: RendererParts, film: FilmBuffer, layers: dict[str, NDArray], progress: Report | None = None
) -> None:
    """Write the layers of light, arrays by name, of a path traced film's samples: from its own sums where its paths
    were sorted, else by tracing the same paths once more."""
    if film.light is not None:
        with renderer.device.current():
            write_means(film.light, layers)
        return
    with renderer.device.current():
        sums = Buffer(renderer.device, LIGHT_SUMS, film.size)
    try:
        plan = FramePlan(renderer.settings, renderer.camera, film.size, samples=max(1, film.samples))
        for fraction in renderer.sampler.light_layers(plan, film, sums):
            if progress is not None:
                progress(fraction, "layers of light")
        with renderer.device.current():
            write_means(sums, layers)
    finally:
        with renderer.device.current():
            sums.release()


def write_means(sums: Buffer, layers: Mapping[str, NDArray]) -> None:
    """Write to layers (H, W, 3), by name, the means over the samples of the sums' fields of these names."""
    totals = sums.fields((*layers, "count"))
    for name, layer in layers.items():
        np.divide(totals[name], np.maximum(totals["count"], 1)[..., None], out=layer)


def write_visibility_layers(
    renderer: RendererParts, film: FilmBuffer, layers: dict[str, NDArray], progress: Report | None = None
) -> None:
    """Write the layers ``shadow`` and ``occlusion``, arrays by name, of a path traced film's samples."""
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
            unshadowed = sums["light"]
            np.divide(sums["hidden"], np.where(unshadowed > 0, unshadowed, 1), out=layers["shadow"])
        if "occlusion" in layers:
            np.divide(sums["near"], np.maximum(sums["count"], 1), out=layers["occlusion"])
    finally:
        with renderer.device.current():
            buffer.release()


def write_feature_layers(buffer: Buffer, layers: dict[str, NDArray]) -> None:
    """Write the feature layers, arrays by name, from a buffer of `FEATURES`: means over samples through the picture's
    lens and pixel filter, of normal and albedo, 0 for a ray without a hit, and of the depth of hits."""
    with buffer.device.current():
        sums = buffer.read()
    count, hits = np.maximum(sums["count"], 1), sums["hits"]
    for name, layer in layers.items():
        if name == "depth":
            layer[...] = np.where(hits > 0, sums["depth"] / np.maximum(hits, 1), np.inf)
        else:
            layer[...] = sums[name] / count[..., None]


def write_cast_layers(
    renderer: RendererParts,
    size: tuple[int, int],
    layers: dict[str, NDArray],
    counting: bool,
    progress: Report | None = None,
) -> None:
    """Write layers, arrays by name, by running the ray caster, for pictures of progressive programs."""
    settings = renderer.settings.replace(program="cast")
    plan = FramePlan(settings, renderer.camera, size, layers=tuple(layers), counting=counting)
    for event in renderer.sampler.render_tiles(plan):
        if isinstance(event, TileDone):
            read_back_tile(event.tile, renderer.device, renderer.prepared, None, layers)
        if progress is not None:
            progress(event.share, "layers")
