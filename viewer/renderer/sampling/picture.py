"""A rendered picture, and the transfer of tiles' results into it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike, NDArray

from raystream.film.files import image
from raystream.film.files.checkpoint import film_layers, film_metadata
from raystream.film.files.image import Matte
from raystream.film.film import Film, set_single_samples
from raystream.film.tonemap import darkness, exposure_text, srgb8, stops
from raystream.kernels.records import HIT
from raystream.options.table import OPTIONS
from raystream.renderer.device.tile_job import Tile
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.counters import Stats

COUNTER_LAYERS = {"steps": "traverse", "tests": "intersect"}  # layer -> the state whose kernel calls it shows
SURFACE_LAYERS = ("normal", "albedo")
FEATURE_LAYERS = ("depth", *SURFACE_LAYERS)  # of a progressive program averages over its samples
INDEX_LAYERS = ("triangle", "instance")
HITS = "hits"  # the name of an array of `HIT` among layers, from which others are computed
# Layer -> the fields of a hit that it is computed from.
HIT_LAYER_FIELDS: Mapping[str, Sequence[str]] = {
    "depth": ("t", "triangle"),
    HITS: HIT.dtype.names or (),
    **dict.fromkeys(INDEX_LAYERS, ("triangle", "instance")),
}

EXPOSURE, TONEMAP = OPTIONS["exposure"].value.default, OPTIONS["tonemap"].value.default

Report = Callable[[float, str], None]


@dataclass(eq=False)
class Picture:
    """A rendered picture: ``linear`` (H, W, 3) float32 linear sRGB, row 0 at the top; layers by name; counters.

    With a transparent background it has ``alpha``, (H, W) 0 to 1, by which ``linear`` is premultiplied: over a
    background it is ``linear + (1 - alpha) background``.

    ``np.asarray(picture)`` is ``linear``; a notebook shows the picture itself.
    """

    linear: NDArray[np.float32]
    layers: dict[str, NDArray]
    stats: Stats
    metadata: dict[str, str] = field(default_factory=dict)
    film: Film | None = None  # of a progressive program; saved in EXR files, which can then be resumed
    depends: dict[str, str] = field(default_factory=dict)  # the facts that its samples depend on
    photon_remark: str = ""  # on its photon map
    matte: Matte | None = None
    layer_remarks: list[str] = field(default_factory=list)
    # The denoised picture (H, W, 3) for 8-bit files and notebooks, and the denoiser.
    shown: tuple[NDArray[np.float32], str] | None = None
    own_lights: bool = False  # only by lights of the scene, without an environment

    def __repr__(self) -> str:
        height, width = self.linear.shape[:2]
        layers = ", ".join(self.layers) or "none"
        return f"<Picture {width} x {height}, samples {self.metadata.get('samples', 'unknown')}, layers {layers}>"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        """``linear`` itself, or a copy where ``dtype`` or ``copy`` asks for one, as NumPy's protocol has it."""
        values = self.linear if dtype is None else self.linear.astype(dtype, copy=False)
        if copy is False and values is not self.linear:
            raise ValueError(f"{self.linear.dtype} cannot become {values.dtype} without a copy")
        return values.copy() if copy and values is self.linear else values

    @property
    def alpha(self) -> NDArray[np.float32] | None:
        """(H, W) opacity, 0 to 1, of a picture with a transparent background; else None."""
        return self.matte.alpha if self.matte is not None and self.matte.color is None else None

    def stops(self, exposure: float | str = EXPOSURE) -> float:
        """The exposure in stops: the number itself, or for ``auto`` the one metered on the picture without
        background."""
        return stops(exposure, self.displayed if self.matte is None else self.matte.metered(self.displayed))

    @property
    def displayed(self) -> NDArray[np.float32]:
        """(H, W, 3) linear sRGB that 8-bit files and notebooks show: denoised by default."""
        return self.linear if self.shown is None else self.shown[0]

    def srgb8(self, exposure: float | str = EXPOSURE, tonemap: str = TONEMAP) -> NDArray[np.uint8]:
        """(H, W, 3) 8-bit sRGB, the pixels of a PNG; a transparent picture is over black, blended before encoding.
        exposure : stops, or auto. tonemap : none, reinhard, aces or agx. Raises ViewerError for other values."""
        if self.matte is None or self.matte.color is None:
            return srgb8(self.displayed, self.stops(exposure), tonemap)
        return image.displayed(self.displayed, self.matte, self.stops(exposure), tonemap)

    def remarks(self, exposure: float | str = EXPOSURE) -> list[str]:
        """Remarks for the user: on a picture that is dark at this exposure (stops, or auto) under the scene's own
        lights, on its photon map, and on its layers."""
        darkness_remark = darkness(self.displayed, exposure) if self.own_lights else ""
        return [line for line in (darkness_remark, self.photon_remark, *self.layer_remarks) if line]

    def png(self, exposure: float | str = EXPOSURE, tonemap: str = TONEMAP) -> bytes:
        """The bytes of the file that `save` writes for a name ending in .png."""
        stops = self.stops(exposure)
        display = {"exposure": exposure_text(exposure, stops), "tonemap": tonemap}
        pixels = image.displayed(self.displayed, self.matte, stops, tonemap)
        return image.png(pixels, {**self._display_metadata, **display})

    @property
    def _display_metadata(self) -> dict[str, str]:
        """The metadata of 8-bit files."""
        return self.metadata if self.shown is None else {**self.metadata, "denoised": self.shown[1]}

    def _repr_png_(self) -> bytes:
        """The picture as notebooks show it."""
        return self.png()

    def save(self, path: str | os.PathLike[str], exposure: float | str = EXPOSURE, tonemap: str = TONEMAP) -> None:
        """Write PNG, WebP or JPEG (8-bit sRGB), EXR or NPZ (float32 linear and layers), by the ending; whole or not at
        all. exposure (stops, or auto), tonemap : for the 8-bit formats alone, as of `srgb8`."""
        layers, metadata, linear = self.layers, self.metadata, self.linear
        if os.fspath(path).lower().endswith(tuple(image.DISPLAYED)):
            linear, metadata = self.displayed, self._display_metadata
        if self.film is not None and os.fspath(path).lower().endswith(".exr"):
            layers = {**layers, **film_layers(self.film)}
            metadata = {**metadata, **film_metadata(self.film, self.depends)}
        image.save(path, linear, layers, metadata, exposure, tonemap, self.matte)


def read_back_tile(
    tile: Tile,
    device: Device,
    prepared: PreparedScene,
    linear: NDArray[np.float32] | None,
    layers: Mapping[str, NDArray],
) -> None:
    """Read the ray caster's results for a tile into the picture's ``layers`` (H, W, ...), by name, and its radiance
    into ``linear`` (H, W, 3), unless that is None. Nothing else is read back."""
    machine, rectangle = tile.machine, (tile.rows, tile.columns)
    shape = (tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
    count = shape[0] * shape[1]

    def tile_values(values: NDArray) -> NDArray:
        """The tile's elements (rows, columns, ...) of a stream's."""
        channels = values.shape[2:]
        return values.reshape(-1, *channels)[:count].reshape(*shape, *channels)

    def read(stream: Stream, targets: Mapping[str, NDArray]) -> None:
        """Read fields of a stream into the tile of pictures (H, W, width), without a copy where the rows agree."""
        views = {name: target[rectangle] for name, target in targets.items()}
        same_rows = shape[1] == stream.size[0]
        out = {name: view for name, view in views.items() if same_rows and view.flags.c_contiguous}
        for name, values in stream.fields(views, out).items():
            if name not in out or not np.shares_memory(values, out[name]):
                views[name][...] = tile_values(values)

    with device.current():
        if linear is not None:
            read(machine.streams["radiance"], {"rgb": linear})
            set_single_samples(linear[rectangle])
        fields = {field for name in layers for field in HIT_LAYER_FIELDS.get(name, ())}
        hit_fields = machine.streams["hit"].fields(fields) if fields else {}
        hit = {name: tile_values(values) for name, values in hit_fields.items()}
        surface = {name: layer for name, layer in layers.items() if name in SURFACE_LAYERS}
        if surface:
            read(machine.streams["surface"], surface)
    for name, layer in layers.items():
        if name == HITS:
            for field_name, values in hit.items():
                layer[field_name][rectangle] = values
        elif name in COUNTER_LAYERS:
            calls = machine.stats.calls.get(COUNTER_LAYERS[name])  # None where rasterised, without any traversal
            layer[rectangle] = 0 if calls is None else tile_values(calls)
        elif name == "depth":
            layer[rectangle] = hit["t"]
            np.copyto(layer[rectangle], np.inf, where=hit["triangle"] < 0)
        elif name in INDEX_LAYERS:
            layer[rectangle] = prepared.triangle_indices(hit) if name == "triangle" else prepared.instance_indices(hit)
