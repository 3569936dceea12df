"""The formats of datasets by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from viewer.dataset import bop, coco, nerf
from viewer.dataset.stage import DatasetStage
from viewer.dataset.view import GroundTruth

Files = dict[str, bytes]


class Writer(Protocol):
    """The interface of a format's module. WHOLE : whether it needs whole silhouettes."""

    WHOLE: bool

    def of_view(self, stage: DatasetStage, view: GroundTruth) -> tuple[Files, Any]:
        """A picture's own files, by their paths in the dataset's folder, and its data for `lists`, of JSON's types."""

    def lists(self, stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> Files:
        """The files of all pictures together, by the numbers and records of all."""


WRITERS: Mapping[str, Writer] = {"coco": coco, "bop": bop, "nerf": nerf}  # type: ignore[dict-item]
