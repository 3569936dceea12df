"""Pictures with what is told of them: poses, depths, flow and silhouettes, against geometry in float64 and pictures of
single objects."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from recipes import MARKS, cube, marks, stage

from raystream.dataset import view as view_module
from raystream.dataset.picture import DatasetRenderer, FinishedPicture
from raystream.dataset.writers import WRITERS
from raystream.film.files.image import read_exr
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.projections import Intrinsics

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with models."""
    cube(tmp_path)
    marks(tmp_path, 0.25)
    marks(tmp_path, 0.1, name="small.gltf")
    return tmp_path


@pytest.fixture
def renderers() -> Iterator[list[DatasetRenderer]]:
    """Those of a test, released at its end."""
    found: list[DatasetRenderer] = []
    yield found
    for each in found:
        each.release()


def made(renderers: list[DatasetRenderer], folder: Path, *numbers: int, **given: Any) -> list[FinishedPicture]:
    """Pictures of a recipe, in that order."""
    renderers.append(DatasetRenderer(stage(folder, **given)))
    return [renderers[-1].render(number) for number in numbers]


def png(picture: FinishedPicture, layer: str, ending: str = "") -> np.ndarray:
    """Of one of its files, by the layer and the end of its name."""
    (name,) = (each for each in picture.files if f"/{layer}/" in each and each.endswith(f"{ending}.png"))
    with Image.open(io.BytesIO(picture.files[name])) as found:
        return np.asarray(found)


def exr(picture: FinishedPicture, tmp_path: Path) -> dict[str, np.ndarray]:
    """The channels of its layers."""
    (name,) = (each for each in picture.files if each.endswith(".exr"))
    (tmp_path / "layers.exr").write_bytes(picture.files[name])
    return read_exr(tmp_path / "layers.exr")[1]


def listed(renderers: list[DatasetRenderer], format: str, pictures: list[FinishedPicture]) -> dict[str, Any]:
    """A format's lists by the names of their files."""
    files = WRITERS[format].lists(renderers[-1].stage, [each.record for each in pictures])
    return {Path(name).name: json.loads(data) for name, data in files.items() if name.endswith(".json")}


def centre(mask: np.ndarray) -> np.ndarray:
    """The middle of a mask's pixels, (x, y); the centre of the upper left pixel is (0, 0)."""
    rows, columns = np.nonzero(mask)
    return np.array([columns.mean(), rows.mean()])


KNOWN: dict[str, Any] = {
    "size": [320, 240],
    "models": [{"file": "marks.gltf", "split": True}],
    "cameras": {"distance": [38, 44], "fov": 4, "roll": [-40, 40], "aside": 0.2},
    "poses": {"area": [[0.3, 0.2, -0.1], [0.3, 0.2, -0.1]], "turn": "none", "rest": False},
    "views": 3,
    "layers": [],
}
PRINCIPAL = {"intrinsics": [3400, 3500, 150, 128]}


@pytest.mark.parametrize("more", [{}, PRINCIPAL], ids=["fov", "matrix"])
def test_known_points_are_where_the_files_say(
    more: dict[str, Any], folder: Path, renderers: list[DatasetRenderer]
) -> None:
    """Octahedra at known places: the middles of their masks are what each format's cameras project, within a tenth of a
    pixel (perspective moves a middle by less than 0.01)."""
    given = {**KNOWN, "cameras": {**KNOWN["cameras"], **more}}
    pictures = made(renderers, folder, 0, 1, 2, **given)
    transforms = listed(renderers, "nerf", pictures)["transforms.json"]
    bop = listed(renderers, "bop", pictures)
    world, compared = MARKS + (0.3, 0.2, -0.1), 0
    for view, (picture, frame) in enumerate(zip(pictures, transforms["frames"], strict=True)):
        x, y, z = np.linalg.inv(frame["transform_matrix"])[:3] @ np.column_stack([world, np.ones(5)]).T
        nerf = np.stack([transforms["fl_x"] * x / -z + transforms["cx"], transforms["fl_y"] * y / z + transforms["cy"]])
        eye, poses = bop["scene_camera.json"][str(view)], bop["scene_gt.json"][str(view)]
        k = np.reshape(eye["cam_K"], (3, 3))
        for number, pose in enumerate(poses):
            assert pose["obj_id"] == number + 1
            at = k @ (np.reshape(pose["cam_R_m2c"], (3, 3)) @ MARKS[number] * 1000 + pose["cam_t_m2c"])
            again = k @ (np.reshape(eye["cam_R_w2c"], (3, 3)) @ world[number] * 1000 + eye["cam_t_w2c"])
            np.testing.assert_allclose(again, at, rtol=1e-9)
            mask = png(picture, "mask", f"_{number:06d}") > 0
            box = bop["scene_gt_info.json"][str(view)][number]["bbox_obj"]
            if not mask.any() or min(box[:2]) <= 0 or box[0] + box[2] >= 319 or box[1] + box[3] >= 239:
                continue  # cut by the picture's edge
            compared += 1
            np.testing.assert_allclose(centre(mask), at[:2] / at[2], atol=0.1)
            np.testing.assert_allclose(centre(mask) + 0.5, nerf[:, number], atol=0.1)  # from the corner
    assert compared >= 9


def test_lenses_are_told(folder: Path, renderers: list[DatasetRenderer]) -> None:
    """NeRF's file has OpenCV's coefficients: by them the middles of masks are where the points are."""
    cameras = {"intrinsics": [700, 700, 160, 120], "distortion": [-0.3, 0.2, 0.01, -0.02, 0.1], "distance": [7, 8]}
    models = [{"file": "small.gltf", "split": True}]
    given = {**KNOWN, "models": models, "cameras": cameras, "formats": ["coco", "nerf"], "layers": ["object"]}
    pictures = made(renderers, folder, 0, 1, **given)
    found = listed(renderers, "nerf", pictures)["transforms.json"]
    k1, k2, p1, p2, k3 = (found[name] for name in ("k1", "k2", "p1", "p2", "k3"))
    assert (k1, k2, p1, p2, k3) == tuple(cameras["distortion"])
    compared = 0
    for picture, frame in zip(pictures, found["frames"], strict=True):
        owners = exr(picture, folder)["object"]
        for number, point in enumerate(MARKS + (0.3, 0.2, -0.1)):
            x, y, z = (np.linalg.inv(frame["transform_matrix"]) @ [*point, 1])[:3]
            x, y = x / -z, y / z
            r = x * x + y * y
            radial = 1 + k1 * r + k2 * r**2 + k3 * r**3
            u = x * radial + 2 * p1 * x * y + p2 * (r + 2 * x * x)
            v = y * radial + p1 * (r + 2 * y * y) + 2 * p2 * x * y
            at = np.array([found["fl_x"] * u + found["cx"], found["fl_y"] * v + found["cy"]])
            mask = owners == number
            inside = (at > 15).all() and at[0] < 305 and at[1] < 225
            if inside and mask.sum() > 150:
                compared += 1
                np.testing.assert_allclose(centre(mask) + 0.5, at, atol=0.15)
    assert compared >= 4


CUBES: dict[str, Any] = {
    "size": [80, 60],
    "models": [{"file": "cube.obj", "size": 0.5}],
    "poses": {"turn": "any"},
    "cameras": {"distance": [1.2, 1.6]},
    "views": 2,
    "depth_scale": 0.05,
}


def test_depth_normal_and_flow_of_a_cube(folder: Path, renderers: list[DatasetRenderer], tmp_path: Path) -> None:
    """Rays through pixels' centres by BOP's matrices against the six planes of the cube."""
    pictures = made(renderers, folder, 0, 1, **CUBES)
    bop = listed(renderers, "bop", pictures)
    eye, other = (bop["scene_camera.json"][str(view)] for view in (0, 1))
    pose, k = bop["scene_gt.json"]["0"][0], np.reshape(eye["cam_K"], (3, 3))
    rotation, place = np.reshape(pose["cam_R_m2c"], (3, 3)), np.array(pose["cam_t_m2c"])
    columns, rows = np.meshgrid(np.arange(80), np.arange(60))
    ways = np.stack([(columns - k[0, 2]) / k[0, 0], (rows - k[1, 2]) / k[1, 1], np.ones((60, 80))], axis=-1)
    start, inner = -place @ rotation, ways @ rotation
    ends = np.stack([(-250 - start) / inner, (250 - start) / inner])
    near, far = ends.min(axis=0), ends.max(axis=0).min(axis=-1)
    depth, hit = near.max(axis=-1), near.max(axis=-1) < far
    found = png(pictures[0], "depth") * eye["depth_scale"]
    both = hit & (found > 0)
    assert (hit != (found > 0)).mean() < 0.002 and both.sum() > 300
    assert np.abs(found - depth)[both].max() < 0.026  # half a step, and float32
    channels = exr(pictures[0], tmp_path)
    np.testing.assert_allclose(channels["depth"][both], depth[both] / 1000, rtol=1e-5)
    steps = listed(renderers, "nerf", pictures)["transforms.json"]["integer_depth_scale"]  # in scene units
    np.testing.assert_allclose(png(pictures[0], "depth")[both] * steps, channels["depth"][both], atol=0.026e-3)
    side = near.argmax(axis=-1)
    outward = -np.sign(np.take_along_axis(inner, side[..., None], axis=-1)) * np.eye(3)[side]
    world = outward @ (np.reshape(eye["cam_R_w2c"], (3, 3)).T @ rotation).T
    normals = np.stack([channels[f"normal.{axis}"] for axis in "XYZ"], axis=-1)
    assert ((normals * world).sum(axis=-1)[both] > 0.999).mean() > 0.99  # a centre on an edge may go to either side
    seen = (ways * depth[..., None] - eye["cam_t_w2c"]) @ np.reshape(eye["cam_R_w2c"], (3, 3))
    there = (seen @ np.reshape(other["cam_R_w2c"], (3, 3)).T + other["cam_t_w2c"]) @ k.T
    flow = there[..., :2] / there[..., 2:] - np.stack([columns, rows], axis=-1)
    got = np.stack([channels["flow.X"], channels["flow.Y"]], axis=-1)
    np.testing.assert_allclose(got[both], flow[both], atol=0.01)
    assert np.isnan(got[~hit & (found == 0)]).all()
    last = exr(pictures[1], tmp_path)
    assert np.isnan(last["flow.X"]).all()  # there is no next one


def test_silhouettes_are_those_of_each_object_alone(
    folder: Path, renderers: list[DatasetRenderer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In pictures that cut objects, and in which they hide each other; the canvas is three pictures wide."""
    given = {**CUBES, "models": [{"file": "cube.obj", "size": 0.5, "count": 3}, {"file": "marks.gltf", "size": 0.6}]}
    given |= {"cameras": {"distance": [0.8, 1.0], "aside": 0.5}, "poses": {"turn": "any", "apart": False}, "layers": []}
    pictures = made(renderers, folder, *range(4), **{**given, "views": 4})
    hidden = cut = 0
    renderer = renderers[-1]
    arranged = renderer.stage.arranged(renderer.stage.layout(0))
    infos = listed(renderers, "bop", pictures)["scene_gt_info.json"]
    for view, picture in enumerate(pictures):
        shown, deep = renderer.view(view)[0], png(picture, "depth") > 0
        size, lens = (80, 60), shown.lens
        wide = Intrinsics(lens.fx, lens.fy, lens.cx + size[0], lens.cy + size[1], (3 * size[0], 3 * size[1]))
        for number in range(len(arranged.objects)):
            own = [
                each
                for each, owner in zip(arranged.scene.instances, arranged.owners[:-1], strict=True)
                if owner == number
            ]
            eye = Camera(shown.camera.origin, shown.camera.target, shown.camera.up, projection=wide)
            alone = Renderer(arranged.scene.with_parts(instances=own), camera=eye, program="cast", ground="none")
            found = np.isfinite(alone.render((240, 180), layers=("depth",)).layers["depth"])
            alone.release()
            info = infos[str(view)][number]
            mask, visible = (png(picture, layer, f"_{number:06d}") > 0 for layer in ("mask", "mask_visib"))
            assert (mask != found[60:120, 80:160]).sum() <= 2 and not (visible & ~mask).any()
            assert abs(info["px_count_all"] - found.sum()) <= 4
            assert info["px_count_visib"] == visible.sum() and info["px_count_valid"] == (mask & deep).sum()
            assert info["visib_fract"] == pytest.approx(visible.sum() / max(info["px_count_all"], 1))
            if visible.any():
                rows, columns = np.nonzero(found)
                box = [columns.min() - 80, rows.min() - 60, np.ptp(columns), np.ptp(rows)]
                np.testing.assert_allclose(info["bbox_obj"], box, atol=1)
                rows, columns = np.nonzero(visible)
                assert info["bbox_visib"] == [columns.min(), rows.min(), np.ptp(columns), np.ptp(rows)]
            else:
                assert info["bbox_obj"] == info["bbox_visib"] == [-1, -1, -1, -1]
            hidden += 0 < visible.sum() < mask.sum()
            cut += mask.sum() < found.sum() - 20
    assert hidden >= 3 and cut >= 3
    monkeypatch.setattr(view_module, "MAX_GROUP_PIXELS", 1)  # each object by itself
    assert renderer.render(0).files == pictures[0].files


MIXED: dict[str, Any] = {
    "models": [
        {"file": "cube.obj", "size": 0.5, "count": [0, 2]},
        {"file": "marks.gltf", "size": 0.7, "count": [1, 2]},
    ],
    "lights": {"count": [0, 2]},
    "environment": {"choices": ["none", "sky", [0.3, 0.4, 0.5]]},
    "scenes": 3,
    "views": 2,
}


def test_bits_do_not_depend_on_the_order(folder: Path, renderers: list[DatasetRenderer]) -> None:
    """Nor on the pictures made before."""
    forwards = made(renderers, folder, *range(6), **MIXED)
    backwards = made(renderers, folder, *reversed(range(6)), **MIXED)[::-1]
    alone = made(renderers, folder, 4, **MIXED)
    for one, other in zip([*forwards, forwards[4]], [*backwards, *alone], strict=True):
        assert one.record == other.record
        assert [name for name, data in one.files.items() if data != other.files[name]] == []
    assert len({data for each in forwards for name, data in each.files.items() if "/rgb/" in name}) == 6


def test_environments_turn(folder: Path, renderers: list[DatasetRenderer]) -> None:
    """The sun is on another side of the cube."""
    pictures = []
    for angle in (0, 180):
        environment = {"choices": ["sky"], "rotation": angle, "sun": 30}
        pictures += made(renderers, folder, 0, **{**CUBES, "environment": environment, "layers": []})
    one, other = (png(each, "rgb").astype(float).mean(axis=-1) for each in pictures)
    inside = png(pictures[0], "foreground") > 0
    assert np.abs(one - other)[inside].max() > 40


def test_what_is_not_annotated_hides_what_is(folder: Path, renderers: list[DatasetRenderer]) -> None:
    """It is in the picture and in the depth, and has no mask."""
    around = {"file": "cube.obj", "size": 6.0, "annotate": False}
    inside = {"file": "cube.obj", "size": 0.5}
    poses = {"area": [[0, 0, 0], [0, 0, 0]], "turn": "none", "rest": False}
    given = {**CUBES, "models": [around, inside], "poses": poses, "depth_scale": 0.2}
    (within,) = made(renderers, folder, 0, **given)
    assert (png(within, "depth") > 0).all() and 0 < (png(within, "foreground") > 0).mean() < 1
    (outside,) = made(renderers, folder, 0, **{**given, "cameras": {"distance": [9, 10]}})
    assert not png(outside, "foreground").any() and outside.record["coco"] == []
    (info,) = outside.record["bop"]["scene_gt_info"]
    assert info["visib_fract"] == 0 and info["px_count_all"] > 5 and png(outside, "mask").any()


def test_coco_tells_of_what_is_seen(folder: Path, renderers: list[DatasetRenderer]) -> None:
    from test_dataset_formats import decoded

    (picture,) = made(renderers, folder, 0, **MIXED)
    whole = listed(renderers, "coco", [picture])["coco.json"]
    assert whole["annotations"]
    for number, each in enumerate(whole["annotations"]):
        mask = decoded(each["segmentation"]["counts"], *each["segmentation"]["size"])
        shown = png(picture, "mask_visib", f"_{number:06d}") > 0
        np.testing.assert_array_equal(mask, shown)
        rows, columns = np.nonzero(shown)
        assert each["area"] == shown.sum()
        assert each["bbox"] == [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]


def test_layers_and_formats_are_those_asked_for(folder: Path, renderers: list[DatasetRenderer], tmp_path: Path) -> None:
    layers = ["position", "albedo", "uv", "object", "material", "class", "triangle"]
    models = [{"file": "marks.gltf", "split": True}]
    (picture,) = made(renderers, folder, 0, models=models, layers=layers, formats=["coco"])
    assert [name.split("/")[2] for name in picture.files] == ["rgb", "depth", "layers"]
    channels = exr(picture, tmp_path)
    hit = channels["object"] >= 0
    assert hit.any() and (png(picture, "depth") > 0)[hit].all()
    np.testing.assert_allclose(
        np.stack([channels[f"albedo.{c}"] for c in "RGB"])[:, hit].T, [[0.9, 0.2, 0.1]] * hit.sum(), atol=1e-6
    )
    assert (channels["material"][hit] == 0).all()
    kinds, objects = renderers[-1].stage.kinds, renderers[-1].view(0)[0].objects
    categories = np.array([*(kinds[placed.kind].category for placed in objects), -1])
    np.testing.assert_array_equal(channels["class"], categories[channels["object"].astype(int)])
    assert renderers[-1].stage.categories[0] == "edge" and len(np.unique(channels["class"][hit])) > 1
    named = {
        f"{layer}.{part}" for layer, parts in (("position", "XYZ"), ("albedo", "RGB"), ("uv", "UV")) for part in parts
    }
    assert set(channels) == {*"RGB", *named, "object", "material", "class", "triangle"}
    (picture,) = made(renderers, folder, 0, layers=[], formats=["nerf"])
    assert [name.split("/")[2] for name in picture.files] == ["rgb", "depth", "foreground"]
