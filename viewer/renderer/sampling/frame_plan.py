"""A frame to render, tile by tile, and the events on the way there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from raystream.renderer.device.tile_job import Rectangle, Tile
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera


@dataclass(frozen=True)
class Tiling:
    """Tiles of at most ``size`` (width, height), whose streams serve pictures of every size.

    rows : is asked for the height of each, 1 to the size's, or more where it is narrower: the same streams serve tiles
    of every cost.
    """

    size: tuple[int, int]
    rows: Callable[[], int] | None = None


@dataclass(frozen=True)
class FramePlan:
    """A frame, or more samples of one.

    settings, camera : by which it is made. size : of the whole picture, (width, height). region : the rows and columns
    of it that are rendered, in place of tiles; the film is of their size and has their corner.

    samples      : that every pixel of a progressive program's film will have.
    first_sample : the number of the first one.
    bounce       : only light of paths of this length, in surface interactions, counts.
    error_goal   : relative error of the film for which pixels may end before they have all samples, by the setting
                   ``adaptive``.
    photon_part  : beyond 1 a map of another sample's photons will do, or of a ``photon_part``-th of this one's.

    tiling   : without it the picture is cut only where it is larger than a stream may be.
    layers   : of the ray caster, see `raystream.film.layers`. counting : every pass is counted, see `Stats`.
    """

    settings: Settings
    camera: Camera
    size: tuple[int, int]
    region: Rectangle | None = None
    samples: int = 1
    first_sample: int = 0
    bounce: int | None = None
    error_goal: float | None = None
    photon_part: int = 1
    tiling: Tiling | None = None
    layers: tuple[str, ...] = ()
    counting: bool = False


class PlanProgress(NamedTuple):
    """The share of the plan that is done, 0 .. 1."""

    share: float


class PhotonMapProgress(NamedTuple):
    """A step of a photon map, whose time no tile has; ``share`` of the plan that is done."""

    share: float


class PhotonMapBuilt(NamedTuple):
    """A photon map is complete; ``share`` of the plan that is done."""

    share: float


class TileUnderWay(NamedTuple):
    """A pass over a tile; ``share`` of the plan that is done."""

    share: float
    tile: Tile


class TileDone(NamedTuple):
    """A tile has all its samples; ``share`` of the plan that is done."""

    share: float
    tile: Tile


Event = PlanProgress | PhotonMapProgress | PhotonMapBuilt | TileUnderWay | TileDone
