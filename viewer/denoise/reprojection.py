"""Temporal reprojection: the history of earlier pictures for the next one of a moving camera or a moving scene.

Each pixel's light is blended with that of the same point of the scene in the picture before (Schied et al. 2017,
"Spatiotemporal Variance-Guided Filtering", section 4.1); see ``shaders/film/denoise/reproject.glsl``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.denoise.records import FLOW, HISTORY, LIT, MOTION, Views, view_uniforms
from raystream.kernels.records import FEATURES
from raystream.scene.camera import Camera
from raystream.stream.declare.record import Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import PassSet
from raystream.stream.gl.stream import NamedStreams, Stream

INPUTS: dict[str, Record] = {"lit": LIT, "features": FEATURES, "past": HISTORY, "motion": MOTION, "flow": FLOW}
LONGEST = 32.0  # samples that the past counts as at most
LONGEST_RELIT = 6.0  # and where lights or objects have moved: shadows are others
CHANCE, CHANCE_RELIT = 2.0, 0.5  # deviations that the light of a pixel may be off that around, and there
NO_PAST = 3, 3  # of the stream that stands for none: no powers of two, as the edges of a past (`gbuffer.TINY`)
MOST_MOVED = 2048  # of those that have moved, in one list


@dataclass(frozen=True)
class Changes:
    """The changes of the scene since the picture before.

    moved : for each range of indices (first, end) where its points were, as (4, 4) from the world now to the world
    then. flat : the indices are triangles', else instances'. posed : objects have deformed. relit : light falls
    otherwise.
    """

    moved: Sequence[tuple[int, int, NDArray[np.float64]]] = ()
    flat: bool = True
    posed: bool = False
    relit: bool = False

    @property
    def shadows(self) -> bool:
        """Whether light may fall otherwise anywhere."""
        return self.relit or self.posed or len(self.moved) > 0


@dataclass
class HistoryPicture:
    """The history of one picture: its light and surfaces, the view and the size."""

    streams: NamedStreams
    camera: Camera | None = None
    size: tuple[int, int] = (0, 0)

    def release(self) -> None:
        """Free the streams."""
        self.streams.release()
        self.camera = None


class History:
    """The picture before, and the one that is being made; the context must be current in every call.

    share : of the past's samples that count, 0 .. 1; 0: none, the picture is of its own samples alone.
    changes : since the picture before.
    """

    def __init__(self, device: Device) -> None:
        self.device, self.share, self.changes = device, 1.0, Changes()
        self._passes = PassSet(device, "film/denoise", {"reproject": (INPUTS, HISTORY)})
        self._passes.prepare("reproject")
        self._streams, self._views = NamedStreams(device), Views(device)
        self._past, self._now = HistoryPicture(NamedStreams(device)), HistoryPicture(NamedStreams(device))

    @property
    def there(self) -> bool:
        """Whether there is a picture before."""
        return self._past.camera is not None

    @property
    def used(self) -> bool:
        """Whether the next picture is blended with the one before."""
        return self.there and self.share > 0 and not (self._past.camera is not None and self._past.camera.kind)

    def turn(self) -> None:
        """The last result becomes the previous picture of the next one."""
        self._past, self._now = self._now, self._past
        self._now.camera = None

    def forget(self) -> None:
        """Another scene: nothing that was shown is of use."""
        self._past.camera = self._now.camera = None

    def blend(self, lit: Stream, features: Stream, camera: Camera, samples: int, flow: Stream | None = None) -> Stream:
        """A stream of `HISTORY`, which begins as one of `LIT`: light blended with the past, and its variance.

        lit, features : of a picture of ``samples`` a pixel, seen by ``camera``. flow : of `FLOW`, where
        objects have deformed since the picture before. Of other projections than a pinhole's it is of this picture
        alone: places are found again by a projective map.
        """
        size, past = lit.size, self._past
        blended = self._now.streams.get("past", HISTORY, size)
        self._now.camera, self._now.size = camera, size
        streams = {"lit": lit, "features": features, "motion": self._rows(camera, past.camera)}
        has_past = past.camera is not None
        streams["past"] = past.streams["past"] if has_past else self._streams.get("none", HISTORY, NO_PAST)
        view = self._views.of(camera, size)
        form, values = view.features, {**view.uniforms, **self._uniforms(camera, size, samples)}
        if flow is not None:
            form, streams["flow"] = ("POSED",), flow
        self._passes.draw("reproject", {**streams, **view.streams}, blended, form, **values)
        return blended

    def _uniforms(self, camera: Camera, size: tuple[int, int], samples: int) -> Mapping[str, Any]:
        """The uniforms of the pass, for a picture of ``size`` (width, height) with ``samples`` a pixel."""
        past = self._past
        before = past.camera or camera
        view = view_uniforms(before, past.size if past.camera is not None else size)
        eyes = np.subtract(camera.origin, before.origin)
        longest, chance = (LONGEST_RELIT, CHANCE_RELIT) if self.changes.shadows else (LONGEST, CHANCE)
        return {
            **{name.replace("view_", "past_"): value for name, value in view.items()},
            "past_forward": tuple(map(float, before.basis()[2])),
            "shift": tuple(map(float, eyes)),
            "moved": len(self.changes.moved),
            "flat_scene": int(self.changes.flat),
            "samples": float(samples),
            "chance": chance,
            "longest": longest * self.share * samples if self.used and not camera.kind else 0.0,
        }

    def _rows(self, camera: Camera, before: Camera | None) -> Stream:
        """The motion of each moved instance, a row for each, sorted."""
        moved = sorted(self.changes.moved, key=lambda each: each[0]) if before is not None else []
        records = np.zeros((1, max(1, len(moved))), MOTION.dtype)
        for k, (first, end, matrix) in enumerate(moved):
            # Relative to the eyes, in float64: float32 has few digits left for places far from the origin.
            rows = relative(matrix, camera, before or camera)
            for name, row in zip(("row_x", "row_y", "row_z"), rows, strict=True):
                records[name][0, k] = row
            records["first"][0, k], records["end"][0, k] = first, end
        stream = self._streams.get("motion", MOTION, records.shape[::-1])
        if moved:  # else none of it is read
            stream.write(records)
        return stream

    def release(self) -> None:
        """Free the streams."""
        for part in (self._past, self._now, self._streams, self._views):
            part.release()


def relative(matrix: NDArray[np.float64], now: Camera, then: Camera) -> NDArray[np.float64]:
    """(3, 4) rows of a motion (4, 4), from places relative to one eye to places relative to the other."""
    rows = np.array(matrix[:3], np.float64)
    rows[:, 3] += rows[:, :3] @ np.asarray(now.origin) - np.asarray(then.origin)
    return rows
