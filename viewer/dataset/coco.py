"""COCO's annotations (cocodataset.org, "Data format"): each visible copy with its mask, its box and its category.

Masks are run lengths down the columns, as texts (P. Dollar and T.-Y. Lin, the COCO API's ``maskApi.c``, 2014): each
length less that before the last one, in digits of five bits and a sign, least first, from "0" on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.dataset.stage import DatasetStage
from raystream.dataset.view import GroundTruth, box_of, path_of

WHOLE = False
FILE = "coco.json"


def of_view(stage: DatasetStage, view: GroundTruth) -> tuple[dict[str, bytes], Any]:
    """See `raystream.dataset.picture.Writer`."""
    objects = []
    for index, thing in enumerate(view.things):
        mask = view.owners == index
        box = box_of(mask)
        if box is not None:
            objects.append({"kind": thing.kind, "counts": run_lengths(mask), "box": box, "area": int(mask.sum())})
    return {}, objects


def lists(stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """See `raystream.dataset.picture.Writer`. Numbers of images are those of the pictures; the others begin at 1."""
    width, height = stage.recipe.size
    images, annotations = [], list[dict[str, Any]]()
    for record in records:
        scene, index = divmod(record["number"], stage.recipe.views)
        name = path_of(scene, index, "rgb")
        images.append({"id": record["number"], "file_name": name, "width": width, "height": height})
        first = len(annotations) + 1
        annotations += [
            {
                "id": item_id,
                "image_id": record["number"],
                "category_id": stage.kinds[annotation["kind"]].category + 1,
                "segmentation": {"size": [height, width], "counts": annotation["counts"]},
                "bbox": annotation["box"],
                "area": annotation["area"],
                "iscrowd": 0,
            }
            for item_id, annotation in enumerate(record["coco"], first)
        ]
    categories = [{"id": item_id, "name": name} for item_id, name in enumerate(stage.categories, 1)]
    info = {"description": "made by raystream"}
    document = {"info": info, "images": images, "categories": categories, "annotations": annotations}
    return {FILE: json.dumps(document).encode()}


def run_lengths(mask: NDArray[np.bool_]) -> str:
    """Of a mask (H, W): run lengths, unset and set in turns, down the columns."""
    flat = np.concatenate([[False], mask.T.reshape(-1), [not mask.T.reshape(-1)[-1]]])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    lengths = np.diff(ends, prepend=0).tolist()
    return "".join(_digits(length - (lengths[k - 2] if k > 2 else 0)) for k, length in enumerate(lengths))


def _digits(value: int) -> str:
    text = ""
    while True:
        digit, value = value & 0x1F, value >> 5
        more = value != (-1 if digit & 0x10 else 0)
        text += chr((digit | more << 5) + 48)
        if not more:
            return text
