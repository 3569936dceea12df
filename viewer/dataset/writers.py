"""Writers of a dataset's formats: COCO's, BOP's and NeRF's files, of one picture and of all."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.dataset.stage import DatasetStage, Kind
from raystream.dataset.view import SPLIT, Box, GroundTruth, box_of, path_of
from raystream.film.files import image

Files = dict[str, bytes]  # by their paths in the dataset's folder


class Writer(ABC):
    """A format's files."""

    whole_silhouettes = False  # whether it needs those of objects without their occluders

    @abstractmethod
    def of_view(self, stage: DatasetStage, view: GroundTruth) -> tuple[Files, Any]:
        """A picture's own files, and its data for `lists`, of JSON's types."""

    @abstractmethod
    def lists(self, stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> Files:
        """The files of all pictures together, by the records of all."""


def _by_scene(stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    """The records of each scene, by its index."""
    scenes: dict[int, list[Mapping[str, Any]]] = {}
    for record in records:
        scenes.setdefault(record["number"] // stage.recipe.views, []).append(record)
    return scenes


# -- COCO --------------------------------------------------------------------------------------------------------------

COCO_FILE = "coco.json"


class CocoWriter(Writer):
    """COCO's annotations (cocodataset.org, "Data format"): each visible copy with its mask, its box and its category.
    Masks are run lengths down the columns, as texts (P. Dollar and T.-Y. Lin, the COCO API's ``maskApi.c``, 2014): each
    length less that before the last one, in digits of five bits and a sign, least first, from "0" on."""

    def of_view(self, stage: DatasetStage, view: GroundTruth) -> tuple[Files, Any]:
        """See `Writer`."""
        objects = []
        for index, placed in enumerate(view.objects):
            mask = view.owners == index
            box = box_of(mask)
            if box is not None:
                objects.append({"kind": placed.kind, "counts": run_lengths(mask), "box": box, "area": int(mask.sum())})
        return {}, objects

    def lists(self, stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> Files:
        """See `Writer`. An image's id is its picture's number; ids of annotations and categories begin at 1."""
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
        return {COCO_FILE: json.dumps(document).encode()}


def run_lengths(mask: NDArray[np.bool_]) -> str:
    """The run lengths of a mask (H, W): unset and set in turns, down the columns."""
    flat = np.concatenate([[False], mask.T.reshape(-1), [not mask.T.reshape(-1)[-1]]])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    lengths = np.diff(ends, prepend=0).tolist()
    return "".join(_digits(length - (lengths[k - 2] if k > 2 else 0)) for k, length in enumerate(lengths))


def _digits(value: int) -> str:
    """A signed number in characters of five bits and a continuation bit, the lowest first, from "0" on."""
    text = ""
    while True:
        digit, value = value & 0x1F, value >> 5
        more = value != (-1 if digit & 0x10 else 0)
        text += chr((digit | more << 5) + 48)
        if not more:
            return text


# -- BOP ---------------------------------------------------------------------------------------------------------------

MM_PER_UNIT = 1000.0
DIAMETER_SWEEPS = 4  # from vertex to farthest vertex; a few find the diameter of nearly every form


class BopWriter(Writer):
    """The format of the benchmark for 6D object pose estimation ("Format of BOP datasets", T. Hodan et al.): poses of
    models in mm, masks of whole and of visible silhouettes, models, for each scene a folder."""

    whole_silhouettes = True

    def of_view(self, stage: DatasetStage, view: GroundTruth) -> tuple[Files, Any]:
        """See `Writer`."""
        files, poses, facts = dict[str, bytes](), [], []
        for index, placed in enumerate(view.objects):
            silhouette = placed.silhouette
            assert silhouette is not None
            visible = view.owners == index
            for layer, mask in (("mask", silhouette.mask), ("mask_visib", visible)):
                files[view.path(layer, object_index=index)] = image.grey_png(mask)
            poses.append(
                {
                    "obj_id": placed.kind + 1,
                    "cam_R_m2c": placed.rotation.reshape(-1).tolist(),
                    "cam_t_m2c": (placed.translation * MM_PER_UNIT).tolist(),
                }
            )
            visible_count = int(visible.sum())
            facts.append(
                {
                    "bbox_obj": _box(silhouette.box if visible_count else None),
                    "bbox_visib": _box(box_of(visible)),
                    "px_count_all": silhouette.count,
                    "px_count_valid": int((silhouette.mask & (view.depth > 0)).sum()),
                    "px_count_visib": visible_count,
                    "visib_fract": visible_count / silhouette.count if silhouette.count else 0.0,
                }
            )
        lens = view.lens
        camera = {
            "cam_K": [lens.fx, 0.0, lens.cx, 0.0, lens.fy, lens.cy, 0.0, 0.0, 1.0],
            "cam_R_w2c": view.rotation.reshape(-1).tolist(),
            "cam_t_w2c": (view.rotation @ -np.asarray(view.camera.origin) * MM_PER_UNIT).tolist(),
            "depth_scale": stage.depth_scale,
        }
        return files, {"scene_camera": camera, "scene_gt": poses, "scene_gt_info": facts}

    def lists(self, stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> Files:
        """See `Writer`: three for each scene, and the models."""
        files, views = dict[str, bytes](), stage.recipe.views
        for scene, scene_records in _by_scene(stage, records).items():
            for name in ("scene_camera", "scene_gt", "scene_gt_info"):
                lines = (
                    f'  "{record["number"] % views}": {json.dumps(record["bop"][name])}' for record in scene_records
                )
                files[f"{SPLIT}/{scene:06d}/{name}.json"] = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
        infos = {}
        for index, kind in enumerate(stage.kinds, 1):
            points, normals, faces = surface(stage, kind)
            files[f"models/obj_{index:06d}.ply"] = ply(points, normals, faces)
            infos[str(index)] = _extent(points)
        files["models/models_info.json"] = json.dumps(infos, indent=2).encode()
        if records:
            k = records[0]["bop"]["scene_camera"]["cam_K"]
            camera = {"fx": k[0], "fy": k[4], "cx": k[2], "cy": k[5], "depth_scale": stage.depth_scale}
            width, height = stage.recipe.size
            files["camera.json"] = json.dumps({**camera, "width": width, "height": height}, indent=2).encode()
        return files


def _box(box: Box | None) -> list[int]:
    """A box as BOP's tools have it: its width is the last pixel less the first; -1 throughout for none."""
    return [-1, -1, -1, -1] if box is None else [box[0], box[1], box[2] - 1, box[3] - 1]


def surface(stage: DatasetStage, kind: Kind) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """The triangles of a kind in its model's space, mm: the vertices (V, 3) that they use, these' unit normals (V, 3),
    which are 0 where the file has none, and corners (T, 3)."""
    size = stage.recipe.models[kind.model].size
    scale = MM_PER_UNIT if size is None else MM_PER_UNIT * size[0] / stage.assets[kind.model].shape.side
    points, normals, faces, first = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for mesh, matrix in stage.surfaces(kind):
        finite = np.isfinite(mesh.positions[mesh.triangles]).all(axis=(1, 2))
        used, corners = np.unique(mesh.triangles[finite], return_inverse=True)
        points.append((mesh.positions[used] @ matrix[:3, :3].T + matrix[:3, 3]) * scale)
        unit_normals = np.zeros_like(points[-1])
        if mesh.normals is not None:
            unit_normals = mesh.normals[used] @ np.linalg.pinv(matrix[:3, :3])
            unit_normals /= np.maximum(np.linalg.norm(unit_normals, axis=1, keepdims=True), 1e-30)
        normals.append(unit_normals)
        mirrored = np.linalg.det(matrix[:3, :3]) < 0
        faces.append(corners.reshape(-1, 3)[:, :: -1 if mirrored else 1] + first)
        first += len(used)
    return np.concatenate(points), np.concatenate(normals), np.concatenate(faces)


def _extent(points: NDArray[np.float64]) -> dict[str, float]:
    """The entry of ``models_info.json`` of vertices (V, 3), mm: diameter and box, zeros without any."""
    if not len(points):
        points = np.zeros((1, 3))
    low, high, diameter = points.min(axis=0), points.max(axis=0), 0.0
    for start in (points[:, 0].argmin(), points[:, 1].argmin(), points[:, 2].argmin()):
        vertex = points[start]
        for _ in range(DIAMETER_SWEEPS):
            distances = np.linalg.norm(points - vertex, axis=1)
            vertex, diameter = points[distances.argmax()], max(diameter, float(distances.max()))
    sizes = zip("xyz", low.tolist(), (high - low).tolist(), strict=True)
    return {"diameter": diameter} | {
        key: value for axis, a, b in sizes for key, value in ((f"min_{axis}", a), (f"size_{axis}", b))
    }


def ply(points: NDArray, normals: NDArray, faces: NDArray) -> bytes:
    """The bytes of a binary PLY of vertices (V, 3), normals (V, 3) and corners (T, 3)."""
    names = "".join(f"property float {name}\n" for name in ("x", "y", "z", "nx", "ny", "nz"))
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\n{names}"
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    corners = np.zeros(len(faces), [("count", "u1"), ("corners", "<i4", 3)])
    corners["count"], corners["corners"] = 3, faces
    return head.encode() + np.hstack([points, normals]).astype("<f4").tobytes() + corners.tobytes()


# -- NeRF --------------------------------------------------------------------------------------------------------------

DISTORTION_NAMES = ("k1", "k2", "p1", "p2", "k3")


class NerfWriter(Writer):
    """``transforms.json`` as NeRF's tools read it (T. Mueller et al., instant-ngp; M. Tancik et al., nerfstudio): for
    each scene, its views with OpenGL's cameras in world space, x right, y up, z backwards, and pixels whose corner is
    (0, 0)."""

    def of_view(self, stage: DatasetStage, view: GroundTruth) -> tuple[Files, Any]:
        """See `Writer`. A mask is white where there is an object."""
        matrix = np.eye(4)
        right, up, forward = view.camera.basis()
        matrix[:3] = np.stack([right, up, -forward, view.camera.origin], axis=1)
        lens = view.lens
        distortion = dict(zip(DISTORTION_NAMES, lens.distortion, strict=False))
        facts = {"fl_x": lens.fx, "fl_y": lens.fy, "cx": lens.cx + 0.5, "cy": lens.cy + 0.5, **distortion}
        return {view.path("foreground"): image.grey_png(view.owners >= 0)}, {"matrix": matrix.tolist(), "lens": facts}

    def lists(self, stage: DatasetStage, records: Sequence[Mapping[str, Any]]) -> Files:
        """See `Writer`. The depth's steps are in scene units."""
        files, views, (width, height) = dict[str, bytes](), stage.recipe.views, stage.recipe.size
        for scene, scene_records in _by_scene(stage, records).items():
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


WRITERS: Mapping[str, Writer] = {"coco": CocoWriter(), "bop": BopWriter(), "nerf": NerfWriter()}
