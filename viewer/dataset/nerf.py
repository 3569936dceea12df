"""``transforms.json`` as NeRF's tools read it (T. Mueller et al., instant-ngp; M. Tancik et al., nerfstudio): for each
scene, its views with OpenGL's cameras in world space, x right, y up, z backwards, and pixels whose corner is (0, 0)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from raystream.dataset.stage import DatasetStage
from raystream.dataset.view import SPLIT, GroundTruth
from raystream.film.files import image

WHOLE = False
NAMES = ("k1", "k2", "p1", "p2", "k3")


def of_view(stage: DatasetStage, view: GroundTruth) -> tuple[dict[str, bytes], Any]:
    """See `raystream.dataset.picture.Writer`. A mask is white where there is an object."""
    matrix = np.eye(4)
    right, up, forward = view.camera.basis()
    matrix[:3] = np.stack([right, up, -forward, view.camera.origin], axis=1)
    lens = view.lens
    bent = dict(zip(NAMES, lens.distortion, strict=False))
    facts = {"fl_x": lens.fx, "fl_y": lens.fy, "cx": lens.cx + 0.5, "cy": lens.cy + 0.5, **bent}
    return {view.path("foreground"): image.grey_png(view.owners >= 0)}, {"matrix": matrix.tolist(), "lens": facts}


def lists(stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """See `raystream.dataset.picture.Writer`. The depth's steps are in scene units."""
    files, views, (width, height) = dict[str, bytes](), stage.recipe.views, stage.recipe.size
    scenes: dict[int, list[Mapping[str, Any]]] = {}
    for record in records:
        scenes.setdefault(record["number"] // views, []).append(record)
    for scene, scene_records in scenes.items():
        frames = []
        for view in scene_records:
            name = f"{view['number'] % views:06d}.png"
            frames.append(
                {
                    "file_path": f"rgb/{name}",
                    "mask_path": f"foreground/{name}",
                    "depth_file_path": f"depth/{name}",  # nerfstudio's word
                    "depth_path": f"depth/{name}",  # instant-ngp's
                    "transform_matrix": view["nerf"]["matrix"],
                }
            )
        document = {
            "camera_model": "OPENCV",
            "w": width,
            "h": height,
            **scene_records[0]["nerf"]["lens"],
            "integer_depth_scale": stage.depth_scale / 1000,
            "frames": frames,
        }
        files[f"{SPLIT}/{scene:06d}/transforms.json"] = json.dumps(document, indent=1).encode()
    return files
