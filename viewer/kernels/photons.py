"""Photons and their map: records, and the steps of tracing photons and of estimating radiance from them.

T. J. Purcell et al., "Photon Mapping on Programmable Graphics Hardware" (2003); T. J. Purcell, "Ray Tracing on a Stream
Processor" (2004), chapter 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from raystream.kernels.paths import AT_SURFACE
from raystream.kernels.records import HIT, MEDIA, PATH, PIXEL, RADIANCE, RAY, SCENE_INTERACTION
from raystream.kernels.whitted import TREE
from raystream.stream.declare.kernel import GATHER, IN, INOUT, OUT, Argument, Kernel, copying
from raystream.stream.declare.record import SMALL, Field, Record

# Photon.stored; 0: it is not in the map, since it left the scene, or was not at a surface that takes it.
STORED = {"indirect": 1, "caustic": 2}  # some surface before was diffuse or glossy; every one was specular

PHOTON = Record(
    "Photon",
    Field("position", "vec3", "scene units", "world"),
    Field("stored", "int", about="PHOTON_INDIRECT, PHOTON_CAUSTIC; 0: it is not in the map", within=SMALL),
    Field("power", "vec3", "W, linear sRGB"),
    Field("bounce", "int", about="surfaces that it had left", within=SMALL),
    Field("direction", "vec3", "unit length", "world", "in which it arrived"),
)

ENTRY = Record(
    "Entry",
    Field("cell", "int", about="of the grid; beyond the last for photons that are not stored, which sorts them last"),
    Field("photon", "int", about="its place in the stream of photons"),
)

FIRST = Record(
    "First",
    Field("first", "int", about="place of a cell's first photon in the sorted list"),
    Field("count", "int", about="photons of the cell"),
)

TOTAL = Record(
    "Total",
    Field("power", "vec3", "W, linear sRGB", about="of all photons of a cell, those that found no place included"),
    Field("photons", "float", about="of the cell, those that found no place included"),
)

ROUTED_CELL = Record(
    "RoutedCell",
    Field("scale", "vec3", about="of its photons' powers, by channel; below zero: minus the power that each has"),
    Field("held", "int", about="photons in its footprint"),
)

ESTIMATE = Record(
    "Estimate",
    Field("sum", "vec3", "W, linear sRGB", about="of the powers, each times the BSDF for its direction"),
    Field("square", "float", "scene units squared", about="of the radius: the farthest of the first k photons"),
    Field("cell", "ivec3", about="of the grid, that is looked into"),
    Field("count", "int", about="photons in the sum"),
    Field(
        "shell", "int", about="distance of the cell from the first one, in cells along the farthest axis", within=SMALL
    ),
    Field("place", "int", about="of the next photon in the map"),
    Field("left", "int", about="photons of the cell that are still to be looked at"),
    Field("moment", "vec3", about="the sum with every power times its distance to the exponent of the filter"),
    Field("caustic", "int", about="1: caustic photons alone count; 0: all", within=SMALL),
)

ARRIVAL = Record(
    "Arrival",
    Field("power", "vec3", "W, linear sRGB"),
    Field("square", "float", "scene units squared", about="of the photon's distance"),
    Field("direction", "vec3", "unit length", "world", "in which the photon arrived"),
)

EMIT_PHOTON = Kernel(
    "emit_photon",
    (IN("pixel", PIXEL), OUT("ray", RAY), OUT("path", PATH)),
    exits=("done",),
    needs=("photon_settings", "light_emit", "sample_2d"),
)
CONTINUE_PHOTON = Kernel("continue_photon", (IN("path", PATH), OUT("photon", PHOTON)), exits=("ray", "done"))
ARRIVE_PHOTON = Kernel(
    "arrive_photon",
    (IN("ray", RAY), IN("hit", HIT), IN("media", MEDIA), OUT("interaction", SCENE_INTERACTION)),
    exits=("surface", "miss"),
    needs=("interaction_at", "media_of"),
)
LOSE_PHOTON = Kernel("lose_photon", (INOUT("path", PATH),), exits=("done",))
STORE_PHOTON = Kernel(
    "store_photon",
    (IN("interaction", SCENE_INTERACTION), IN("path", PATH), OUT("photon", PHOTON)),
    exits=("done",),
    needs=("photon_settings", "bsdf_sample"),
)
SCATTER_PHOTON = Kernel(
    "scatter_photon",
    (
        IN("pixel", PIXEL),
        IN("interaction", SCENE_INTERACTION),
        INOUT("path", PATH),
        INOUT("media", MEDIA),
        INOUT("ray", RAY),
    ),
    exits=("done",),
    needs=("photon_settings", "bsdf_sample", "sample_2d", "media_of"),
)

NEXT_SHADOW_RAY = Kernel(
    "next_shadow_ray",
    (*AT_SURFACE, INOUT("tree", TREE), INOUT("ray", RAY), OUT("pending", RADIANCE)),
    exits=("again", "shadow", "end"),
    needs=("path_settings", "light_sample", "bsdf_value", "sample_2d", "media_of"),
)
SEARCHES = ("nearest", "radius")  # for the k nearest photons, shell by shell; for all within a radius


@dataclass(frozen=True)
class MapForm:
    """The inputs of estimates from a photon map: the streams that each kernel gathers, and the modules that search them
    (``shaders/interface/photons_of_cell.glsl``, ``photon_at.glsl``), named after it."""

    name: str
    cell: tuple[Argument, ...]
    photon: tuple[Argument, ...]

    @property
    def streams(self) -> dict[str, Record]:
        """The streams of an estimate, by name."""
        return {
            argument.name: argument.record
            for argument in (*self.cell, *self.photon)
            if isinstance(argument.record, Record)
        }


_PHOTONS = GATHER("photons", PHOTON)
_ROUTED_CELLS = GATHER("routed_cells", ROUTED_CELL)
MAPS = {  # by the option's word
    "sort": MapForm("sorted", (GATHER("first_photons", FIRST),), (GATHER("photon_list", ENTRY), _PHOTONS)),
    "stencil": MapForm("routed", (_ROUTED_CELLS,), (_ROUTED_CELLS, GATHER("footprints", ENTRY), _PHOTONS)),
}


NEAREST_SHELL = Kernel(
    "nearest_shell",
    (IN("interaction", SCENE_INTERACTION), INOUT("estimate", ESTIMATE)),
    exits=("cell", "end"),
    needs=("nearest_estimate",),
)


@dataclass(frozen=True)
class EstimateKernels:
    """The kernels of radiance estimates over a kind of photon map, by one of `SEARCHES`. Each search has separate
    programs, since a machine without branches would compute both.

    apart : photons are found and weighed in two states, since one would read too many textures.
    """

    form: MapForm
    search: str
    apart: bool = False

    @property
    def streams(self) -> dict[str, Record]:
        """The streams that the kernels add to those of their program."""
        return {"estimate": ESTIMATE, **self.form.streams, **({"arrival": ARRIVAL} if self.apart else {})}

    @property
    def settings(self) -> str:
        """The need that the module of the estimate's settings provides."""
        return f"{self.search}_estimate"

    @property
    def begin(self) -> Kernel:
        """The kernel that begins an estimate at a surface; before a final gather, of caustic photons alone."""
        arguments = IN("interaction", SCENE_INTERACTION), IN("path", PATH), OUT("estimate", ESTIMATE)
        return Kernel("begin_estimate", arguments, ("cell", "none"), (self.settings, "path_settings", "bsdf_value"))

    @property
    def cell(self) -> Kernel:
        """The kernel that moves an estimate on to the next cell of the photon map; exits: ``again`` with an empty cell,
        ``photon`` with its first photon, and the end of the search, or of a shell of cells."""
        arguments = (IN("interaction", SCENE_INTERACTION), INOUT("estimate", ESTIMATE), *self.form.cell)
        needs = self.settings, f"{self.form.name}_cell"
        end_exit = "shell" if self.search == "nearest" else "end"
        return Kernel(f"{self.search}_cell", arguments, ("again", "photon", end_exit), needs)

    @property
    def photon(self) -> Kernel:
        """The kernel that adds the next photon of the cell."""
        arguments = (IN("interaction", SCENE_INTERACTION), INOUT("estimate", ESTIMATE), *self.form.photon)
        needs = self.settings, f"{self.form.name}_photon", "bsdf_value"
        return Kernel("estimate_photon", arguments, ("again", "cell"), needs)

    @property
    def find(self) -> Kernel:
        """The kernel that decides whether the next photon of the cell counts; `weigh` adds it."""
        interaction, estimate = IN("interaction", SCENE_INTERACTION), INOUT("estimate", ESTIMATE)
        arguments = interaction, estimate, *self.form.photon, OUT("arrival", ARRIVAL)
        needs = self.settings, f"{self.form.name}_photon"
        return Kernel("find_photon", arguments, ("found", "again", "cell"), needs)

    @property
    def weigh(self) -> Kernel:
        """The kernel that adds a photon found by `find`."""
        interaction, estimate = IN("interaction", SCENE_INTERACTION), INOUT("estimate", ESTIMATE)
        arguments = interaction, IN("arrival", ARRIVAL), estimate
        return Kernel("weigh_photon", arguments, ("again", "cell"), (self.settings, "bsdf_value"))

    @property
    def finish(self) -> Kernel:
        """The kernel that adds the estimate to the picture."""
        interaction, path = IN("interaction", SCENE_INTERACTION), IN("path", PATH)
        arguments = interaction, path, INOUT("estimate", ESTIMATE), INOUT("radiance", RADIANCE)
        return Kernel("finish_estimate", arguments, ("caustic", "done"), (self.settings,))


# Final gather: ``spot`` is where the estimate is made, at the surface itself or where a gathering ray has come to, with
# the media ``around``; ``gathering`` is a path that counts its rays, and the mirrors and glass on the way of each.
BEGIN_GATHER = Kernel(
    "begin_gather",
    (IN("interaction", SCENE_INTERACTION), IN("path", PATH), OUT("gathering", PATH)),
    exits=("surface", "none"),
    needs=("gather_settings", "path_settings", "bsdf_delta"),
)
COPY_SURFACE = copying("copy_surface", ("source", "copy", SCENE_INTERACTION), ("source_media", "copy_media", MEDIA))
GATHER_RAY = Kernel(
    "gather_ray",
    (*AT_SURFACE, INOUT("gathering", PATH), OUT("ray", RAY), OUT("around", MEDIA)),
    exits=("ray", "again", "end"),
    needs=("gather_settings", "bsdf_sample", "sample_2d", "media_of"),
)
CONTINUE_GATHERING = Kernel(
    "continue_gathering",
    (
        IN("pixel", PIXEL),
        IN("spot", SCENE_INTERACTION),
        IN("path", PATH),
        INOUT("gathering", PATH),
        INOUT("around", MEDIA),
        OUT("ray", RAY),
    ),
    exits=("ray", "end"),
    needs=("gather_settings", "path_settings", "bsdf_sample", "sample_2d", "media_of"),
)
CHOOSE_GATHERING_CHANNEL = Kernel(
    "choose_gathering_channel",
    (IN("pixel", PIXEL), IN("path", PATH), INOUT("spot", SCENE_INTERACTION), INOUT("gathering", PATH)),
    exits=("done",),
    needs=("gather_settings", "channels_part", "at_channel", "bsdf_branches", "sample_2d"),
)

# Where gathering rays go the way of all others.
EXCHANGE_PATHS = Kernel("exchange_paths", (INOUT("path", PATH), INOUT("waiting", PATH)), exits=("done",))
DISPATCH = Kernel("dispatch", (IN("hit", HIT), INOUT("path", PATH)), exits=("own", "gathering"))
GATHER_ON = Kernel(
    "gather_on",
    (
        IN("pixel", PIXEL),
        IN("spot", SCENE_INTERACTION),
        IN("path", PATH),
        IN("media", MEDIA),
        INOUT("gathering", PATH),
        INOUT("around", MEDIA),
        OUT("ray", RAY),
    ),
    exits=("ray", "again", "place", "end"),
    needs=CONTINUE_GATHERING.needs,
)
