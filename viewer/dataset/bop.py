"""The format of the benchmark for 6D object pose estimation ("Format of BOP datasets", T. Hodan et al.): poses of
models in mm, masks of whole and of visible silhouettes, models, for each scene a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.dataset.stage import DatasetStage, Kind
from raystream.dataset.view import SPLIT, Box, GroundTruth, box_of
from raystream.film.files import image

WHOLE = True
MM = 1000.0  # of a scene unit
SWEEPS = 4  # from vertex to farthest vertex; a few find the diameter of nearly every form


def of_view(stage: DatasetStage, view: GroundTruth) -> tuple[dict[str, bytes], Any]:
    """See `raystream.dataset.picture.Writer`."""
    files, poses, facts = dict[str, bytes](), [], []
    for index, thing in enumerate(view.things):
        silhouette = thing.silhouette
        assert silhouette is not None
        shown = view.owners == index
        for layer, mask in (("mask", silhouette.mask), ("mask_visib", shown)):
            files[view.path(layer, thing=index)] = image.grey_png(mask)
        poses.append(
            {
                "obj_id": thing.kind + 1,
                "cam_R_m2c": thing.rotation.reshape(-1).tolist(),
                "cam_t_m2c": (thing.translation * MM).tolist(),
            }
        )
        visible = int(shown.sum())
        facts.append(
            {
                "bbox_obj": _box(silhouette.box if visible else None),
                "bbox_visib": _box(box_of(shown)),
                "px_count_all": silhouette.count,
                "px_count_valid": int((silhouette.mask & (view.depth > 0)).sum()),
                "px_count_visib": visible,
                "visib_fract": visible / silhouette.count if silhouette.count else 0.0,
            }
        )
    lens = view.lens
    eye = {
        "cam_K": [lens.fx, 0.0, lens.cx, 0.0, lens.fy, lens.cy, 0.0, 0.0, 1.0],
        "cam_R_w2c": view.rotation.reshape(-1).tolist(),
        "cam_t_w2c": (view.rotation @ -np.asarray(view.camera.origin) * MM).tolist(),
        "depth_scale": stage.depth_scale,
    }
    return files, {"scene_camera": eye, "scene_gt": poses, "scene_gt_info": facts}


def _box(box: Box | None) -> list[int]:
    """As BOP's tools have it: the last pixel less the first is the width."""
    return [-1, -1, -1, -1] if box is None else [box[0], box[1], box[2] - 1, box[3] - 1]


def lists(stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """See `raystream.dataset.picture.Writer`: three for each scene, and the models."""
    files, views = dict[str, bytes](), stage.recipe.views
    scenes: dict[int, list[Mapping[str, Any]]] = {}
    for record in records:
        scenes.setdefault(record["number"] // views, []).append(record)
    for scene, scene_records in scenes.items():
        for name in ("scene_camera", "scene_gt", "scene_gt_info"):
            lines = (f'  "{record["number"] % views}": {json.dumps(record["bop"][name])}' for record in scene_records)
            files[f"{SPLIT}/{scene:06d}/{name}.json"] = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    infos = {}
    for index, kind in enumerate(stage.kinds, 1):
        points, normals, faces = surface(stage, kind)
        files[f"models/obj_{index:06d}.ply"] = ply(points, normals, faces)
        infos[str(index)] = _extent(points)
    files["models/models_info.json"] = json.dumps(infos, indent=2).encode()
    if records:
        k = records[0]["bop"]["scene_camera"]["cam_K"]
        eye = {"fx": k[0], "fy": k[4], "cx": k[2], "cy": k[5], "depth_scale": stage.depth_scale}
        width, height = stage.recipe.size
        files["camera.json"] = json.dumps({**eye, "width": width, "height": height}, indent=2).encode()
    return files


def surface(stage: DatasetStage, kind: Kind) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """The triangles of a kind in its model's space, mm: the vertices (V, 3) that they use, these' unit normals (V, 3),
    which are 0 where the file has none, and corners (T, 3)."""
    size = stage.recipe.models[kind.model].size
    scale = MM if size is None else MM * size[0] / stage.assets[kind.model].shape.side
    points, normals, faces, first = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for mesh, matrix in stage.surfaces(kind):
        finite = np.isfinite(mesh.positions[mesh.triangles]).all(axis=(1, 2))
        used, corners = np.unique(mesh.triangles[finite], return_inverse=True)
        points.append((mesh.positions[used] @ matrix[:3, :3].T + matrix[:3, 3]) * scale)
        turned = np.zeros_like(points[-1])
        if mesh.normals is not None:
            turned = mesh.normals[used] @ np.linalg.pinv(matrix[:3, :3])
            turned /= np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-30)
        normals.append(turned)
        mirrored = np.linalg.det(matrix[:3, :3]) < 0
        faces.append(corners.reshape(-1, 3)[:, :: -1 if mirrored else 1] + first)
        first += len(used)
    return np.concatenate(points), np.concatenate(normals), np.concatenate(faces)


def _extent(points: NDArray[np.float64]) -> dict[str, float]:
    """Diameter and box of vertices (V, 3), mm; zeros of none."""
    if not len(points):
        points = np.zeros((1, 3))
    low, high, best = points.min(axis=0), points.max(axis=0), 0.0
    for start in (points[:, 0].argmin(), points[:, 1].argmin(), points[:, 2].argmin()):
        at = points[start]
        for _ in range(SWEEPS):
            away = np.linalg.norm(points - at, axis=1)
            at, best = points[away.argmax()], max(best, float(away.max()))
    sizes = zip("xyz", low.tolist(), (high - low).tolist(), strict=True)
    return {"diameter": best} | {
        key: value for axis, a, b in sizes for key, value in ((f"min_{axis}", a), (f"size_{axis}", b))
    }


def ply(points: NDArray, normals: NDArray, faces: NDArray) -> bytes:
    """A binary PLY of a mesh."""
    names = "".join(f"property float {name}\n" for name in ("x", "y", "z", "nx", "ny", "nz"))
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\n{names}"
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    corners = np.zeros(len(faces), [("count", "u1"), ("corners", "<i4", 3)])
    corners["count"], corners["corners"] = 3, faces
    return head.encode() + np.hstack([points, normals]).astype("<f4").tobytes() + corners.tobytes()
