"""What the writers make of arrays and records, and a dataset's folder through stops, in order at the end."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from recipes import cube, marks, stage

from raystream.base.errors import ViewerError
from raystream.dataset import writers
from raystream.dataset.folder import open_folder
from raystream.dataset.picture import FinishedPicture
from raystream.dataset.stage import DatasetStage
from raystream.dataset.view import SPLIT


def decoded(text: str, height: int, width: int) -> np.ndarray:
    """A mask (H, W) of COCO's text, digit by digit."""
    lengths, value, shift = list[int](), 0, 0
    for character in text:
        digit = ord(character) - 48
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            if digit & 16:
                value -= 1 << shift
            lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
            value = shift = 0
    flat = np.concatenate([np.full(length, number % 2 == 1) for number, length in enumerate(lengths)])
    return flat.reshape(width, height).T


RANDOM = np.random.default_rng(3).random((4, 5)) < 0.5
KNOWN = [  # by pycocotools 2.0.11
    (np.zeros((2, 3), bool), "6"),
    (np.ones((2, 3), bool), "06"),
    (np.eye(3, dtype=bool), "013000"),
    (RANDOM, "031O0O0140LO"),
    (np.pad(np.ones((40, 60), bool), ((7, 3), (11, 200))), f"]a0X1:{'0' * 117}Yh9"),
]


@pytest.mark.parametrize(("mask", "text"), KNOWN)
def test_run_lengths_are_coco_s(mask: np.ndarray, text: str) -> None:
    assert writers.run_lengths(mask) == text
    np.testing.assert_array_equal(decoded(text, *mask.shape), mask)


def test_run_lengths_of_many_masks() -> None:
    draw = np.random.default_rng(4)
    for _ in range(50):
        mask = draw.random((draw.integers(1, 90), draw.integers(1, 90))) < draw.random()
        np.testing.assert_array_equal(decoded(writers.run_lengths(mask), *mask.shape), mask)


def record(number: int, *things: dict[str, Any]) -> dict[str, Any]:
    return {"number": number, "coco": list(things)}


def test_the_list_of_coco(tmp_path: Path) -> None:
    """Every number that others refer to is there, and told once."""
    cube(tmp_path)
    models = [{"file": "cube.obj", "name": name, "category": category} for name, category in ("ax", "bx", "cy")]
    found = stage(tmp_path, models=models, views=2, scenes=2)
    seen = {"counts": "6", "box": [1, 2, 3, 4], "area": 9}
    (data,) = (
        writers.CocoWriter()
        .lists(found, [record(0, {**seen, "kind": 2}), record(1), record(3, {**seen, "kind": 0}, {**seen, "kind": 1})])
        .values()
    )
    whole = json.loads(data)
    assert [each["id"] for each in whole["images"]] == [0, 1, 3]
    assert whole["images"][2]["file_name"] == "train_pbr/000001/rgb/000001.png"
    assert {(each["width"], each["height"]) for each in whole["images"]} == {(40, 30)}
    assert whole["categories"] == [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]
    told = [(each["id"], each["image_id"], each["category_id"]) for each in whole["annotations"]]
    assert told == [(1, 0, 2), (2, 3, 1), (3, 3, 1)]
    first = whole["annotations"][0]
    assert first["segmentation"] == {"size": [30, 40], "counts": "6"} and first["iscrowd"] == 0
    assert first["bbox"] == [1, 2, 3, 4] and first["area"] == 9


def test_all_that_transforms_json_says(tmp_path: Path) -> None:
    """A file for each scene, of its own views, whose numbers begin at 0 in each."""
    cube(tmp_path)
    made = stage(tmp_path, views=2, scenes=2, depth_scale=0.25)
    matrices = [np.diag([1.0, 1, 1, k + 2]).tolist() for k in range(4)]
    lens = {"fl_x": 50.0, "fl_y": 60.0, "cx": 20.5, "cy": 15.5, "k1": 0.1}
    records = [{"number": k, "nerf": {"matrix": matrix, "lens": lens}} for k, matrix in enumerate(matrices)]
    files = {name: json.loads(data) for name, data in writers.NerfWriter().lists(made, records).items()}
    assert list(files) == [f"{SPLIT}/{scene:06d}/transforms.json" for scene in (0, 1)]
    for scene, whole in enumerate(files.values()):
        frames = whole.pop("frames")
        assert whole == {"camera_model": "OPENCV", "w": 40, "h": 30, **lens, "integer_depth_scale": 0.25e-3}
        for view, frame in enumerate(frames):
            depth = f"depth/{view:06d}.png"
            assert frame.pop("transform_matrix") == matrices[2 * scene + view]
            assert frame == {
                "file_path": f"rgb/{view:06d}.png",
                "mask_path": f"foreground/{view:06d}.png",
                "depth_file_path": depth,
                "depth_path": depth,
            }


def test_all_that_bop_s_lists_say(tmp_path: Path) -> None:
    """Of a scene's views by their numbers in it; and the camera of all of them."""
    cube(tmp_path)
    made = stage(tmp_path, views=2, scenes=2, depth_scale=0.25)
    k = [50.0, 0.0, 19.5, 0.0, 60.0, 14.5, 0.0, 0.0, 1.0]
    names = "scene_camera", "scene_gt", "scene_gt_info"
    facts = [{"scene_camera": {"cam_K": k}, "scene_gt": [n], "scene_gt_info": [10 * n]} for n in range(4)]
    files = writers.BopWriter().lists(made, [{"number": n, "bop": each} for n, each in enumerate(facts)])
    for scene in (0, 1):
        for name in names:
            found = json.loads(files[f"{SPLIT}/{scene:06d}/{name}.json"])
            assert found == {str(view): facts[2 * scene + view][name] for view in (0, 1)}
    camera = {"fx": 50, "fy": 60, "cx": 19.5, "cy": 14.5, "depth_scale": 0.25, "width": 40, "height": 30}
    assert json.loads(files["camera.json"]) == camera


def models_of(found: DatasetStage) -> dict[str, bytes]:
    return {name: data for name, data in writers.BopWriter().lists(found, []).items() if name.startswith("models/")}


def test_models_in_millimetres(tmp_path: Path) -> None:
    """Around the middle of their boxes, as the poses mean them; parts in their model's space."""
    cube(tmp_path, 7.0)
    marks(tmp_path)
    models = [{"file": "cube.obj", "size": 0.25}, {"file": "marks.gltf", "split": True}, {"file": "cube.obj"}]
    files = models_of(stage(tmp_path, models=models))
    infos = json.loads(files["models/models_info.json"])
    assert len(files) == 1 + len(infos) == 8
    assert infos["1"]["diameter"] == pytest.approx(250 * 3**0.5)
    assert infos["1"]["min_x"] == infos["1"]["min_z"] == pytest.approx(-125) and infos["1"]["size_y"] == pytest.approx(
        250
    )
    assert infos["2"]["size_x"] == pytest.approx(80) and infos["2"]["min_x"] == pytest.approx(-1040)
    assert infos["7"]["size_x"] == pytest.approx(7000)
    points, faces = read_ply(files["models/obj_000001.ply"])
    assert sorted({tuple(each) for each in np.sign(points).tolist()}) == [
        (x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)
    ]
    corners = points[faces]
    volume = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert abs(volume) == pytest.approx(250**3) and len(faces) == 12


def read_ply(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3) and corners (T, 3), by the head's own words."""
    head, _, body = data.partition(b"end_header\n")
    lines = head.decode().splitlines()
    vertices, triangles = (int(line.split()[-1]) for line in lines if line.startswith("element"))
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"]
    assert [line for line in lines if "float" in line] == [
        f"property float {n}" for n in ("x", "y", "z", "nx", "ny", "nz")
    ]
    rows = np.frombuffer(body, "<f4", 6 * vertices).reshape(-1, 6)
    ends = np.frombuffer(body[24 * vertices :], [("n", "u1"), ("c", "<i4", 3)])
    assert len(ends) == triangles and (ends["n"] == 3).all()
    return rows[:, :3].astype(np.float64), ends["c"]


def test_vertices_that_no_triangle_uses_are_none_of_the_model(tmp_path: Path) -> None:
    cube(tmp_path)
    made = stage(tmp_path)
    mesh = made.assets[0].scene.meshes[0]
    corners = mesh.positions[mesh.triangles]
    mesh.positions = np.vstack([np.full((1, 3), 9, np.float32), mesh.positions, np.full((1, 3), np.nan, np.float32)])
    mesh.triangles = mesh.triangles + np.int32(1)
    if mesh.normals is not None:
        mesh.normals = np.vstack([mesh.normals[:1], mesh.normals, mesh.normals[:1]])
    points, normals, faces = writers.surface(made, made.kinds[0])
    assert len(points) == len(normals) == faces.max() + 1 and np.isfinite(points).all()
    np.testing.assert_allclose(np.ptp(points[faces], axis=(0, 1)), 500 * np.ptp(corners, axis=(0, 1)), rtol=1e-6)


def test_faces_of_mirrored_nodes_are_outwards(tmp_path: Path) -> None:
    """All triangles of a model, as a program sees them that takes the order of corners for the side."""
    path = marks(tmp_path)
    document = json.loads(path.read_text())
    for node, scale in zip(
        document["nodes"], ((1, 1, 1), (-1, 1, 1), (1, -2, 1), (-1, -1, 1), (-1, -1, -3)), strict=True
    ):
        node["scale"] = scale
    path.write_text(json.dumps(document))
    made = stage(tmp_path, models=[{"file": "marks.gltf", "split": True}])
    for kind in made.kinds:
        points, _, faces = writers.surface(made, kind)
        corners = points[faces]
        outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert ((outward * (corners.mean(axis=1) - points.mean(axis=0))).sum(axis=1) > 0).all(), kind


@pytest.mark.parametrize(("distance", "step"), [(0.5, 0.1), (3.3, 0.2), (6, 0.2), (8, 0.5), (100, 5.0), (1e6, 50000.0)])
def test_steps_of_depth_reach_twice_as_far_as_the_models(distance: float, step: float, tmp_path: Path) -> None:
    cube(tmp_path)
    assert stage(tmp_path, cameras={"distance": distance}).depth_scale == pytest.approx(step)
    assert stage(tmp_path, cameras={"distance": distance}, depth_scale=3).depth_scale == 3


STAGE: Any = SimpleNamespace(digest="d", recipe=SimpleNamespace(formats=(), pictures=4))


def made(number: int) -> FinishedPicture:
    """A picture of one file."""
    return FinishedPicture(number, {f"p/{number}.png": b"x" * (number + 1)}, {"number": number})


def numbers(path: Path) -> list[int]:
    """Of the manifest's pictures, each line of which is whole."""
    head, *lines = (json.loads(line) for line in (path / "manifest.jsonl").read_text().splitlines())
    assert head["recipe"] == "d"
    return [line["number"] for line in lines]


def test_lines_are_in_order_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "d"
    with open_folder(str(path), STAGE) as folder:
        for number in (2, 0, 1):
            folder.add(made(number))
        assert numbers(path) == [2, 0, 1]
        folder.finish()
    assert numbers(path) == [0, 1, 2]
    files = sorted(each.name for each in path.rglob("*") if each.is_file())
    assert files == ["0.png", "1.png", "2.png", "manifest.jsonl"]


def test_a_head_that_is_cut_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "d"
    path.mkdir()
    (path / "manifest.jsonl").write_text('{"recipe"')
    with open_folder(str(path), STAGE) as folder:
        assert not folder.done
    assert numbers(path) == []


def test_a_recipe_may_change_until_there_is_a_picture(tmp_path: Path) -> None:
    path, other = tmp_path / "d", SimpleNamespace(digest="e", recipe=STAGE.recipe)
    for first in (other, STAGE):
        with open_folder(str(path), first) as folder:
            assert not folder.done
    assert numbers(path) == []
    with open_folder(str(path), STAGE) as folder:
        folder.add(made(0))
    with pytest.raises(ViewerError, match="another recipe"), open_folder(str(path), other):
        pass
    assert numbers(path) == [0]


@pytest.mark.parametrize(
    "content",
    [
        b'{"image": "a.png", "label": 3}\n{"image": "b.png", "label": 1}\n',
        b"shopping list: milk, bread",
        b'{"image": "a.png"}',  # without an end
        b"\n\n\n",
        b'{"recipe":"r","raystream":"1","author":"me"}\n',
        b'{"recipe":1,"raystream":2}\n',
        bytes(range(256)),
        b"[" * 100_000 + b"\n",
        b'{"image": "a.png"}\n{"recipe":"d","raystream":"1"}\n',  # a head behind a line
    ],
)
@pytest.mark.parametrize("linked", [False, True])
def test_a_manifest_of_others_is_kept(content: bytes, linked: bool, tmp_path: Path) -> None:
    """Itself, or behind a link, which is not followed."""
    manifest, target = tmp_path / "d" / "manifest.jsonl", tmp_path / "mine.jsonl"
    manifest.parent.mkdir()
    if linked:
        manifest.symlink_to(target)
    manifest.write_bytes(content)
    with pytest.raises(ViewerError, match="holds other files"), open_folder(str(manifest.parent), STAGE):
        pass
    assert manifest.read_bytes() == content and manifest.is_symlink() == linked


def whole_manifest(folder: Path) -> tuple[Path, list[bytes]]:
    """Of four pictures, and its lines."""
    with open_folder(str(folder), STAGE) as dataset:
        for number in range(4):
            dataset.add(counted(number))
        dataset.finish()
    manifest = folder / "manifest.jsonl"
    return manifest, manifest.read_bytes().splitlines(keepends=True)


def counted(number: int) -> FinishedPicture:
    """A picture with what COCO tells of it."""
    facts = {"number": number, "driver": "a driver", "coco": [{"kind": 0, "counts": "01", "box": [0, 1, 2, 3]}]}
    return FinishedPicture(number, {f"p/{number}.png": b"x" * (number + 1)}, facts)


@pytest.mark.parametrize(
    "edit",
    [
        *({"number": 99}, {"number": -1}, {"number": True}, {"driver": None}, {"files": ["p/1.png"]}, {"files": {}}),
        *({"coco": 5}, {"coco": [{"kind": 7}]}, b"[1]\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n"),
    ],
    ids=lambda edit: str(edit)[:30],
)
def test_a_damaged_record_is_made_again(edit: dict[str, Any] | bytes, tmp_path: Path) -> None:
    """The others are kept, also those behind it."""
    manifest, lines = whole_manifest(tmp_path / "d")
    line = edit if isinstance(edit, bytes) else json.dumps({**json.loads(lines[2]), **edit}).encode() + b"\n"
    manifest.write_bytes(b"".join([*lines[:2], line, *lines[3:]]))
    with open_folder(str(tmp_path / "d"), STAGE) as dataset:
        assert dataset.done.keys() == {0, 2, 3}
        dataset.add(counted(1))
        dataset.finish()
    assert manifest.read_bytes() == b"".join(lines)


def test_a_cut_line_is_taken_away(tmp_path: Path) -> None:
    """What is written after it can be read by the next process, too."""
    path = tmp_path / "d"
    with open_folder(str(path), STAGE) as folder:
        folder.add(made(2))
        folder.add(made(0))
    manifest = path / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-9])
    for number, before in ((1, {2}), (3, {2, 1})):
        with open_folder(str(path), STAGE) as folder:
            assert folder.done.keys() == before
            folder.add(made(number))
    assert numbers(path) == [2, 1, 3]


def test_random_damage(tmp_path: Path) -> None:
    """800 times: what is left is whole, or the file is refused and kept."""
    draw, folder = random.Random(43), tmp_path / "d"
    manifest, lines = whole_manifest(folder)
    content, refused = b"".join(lines), 0
    whole = {json.loads(line)["number"]: json.loads(line) for line in lines[1:]}
    for _ in range(800):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(damaged))
            damaged[at : at + draw.randint(0, 4)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 4)))
        manifest.write_bytes(damaged)
        try:
            with open_folder(str(folder), STAGE) as dataset:
                assert dataset.done.keys() <= {0, 1, 2, 3}
                for number, record in dataset.done.items():
                    assert record.items() <= whole[number].items()
        except ViewerError:
            refused += 1
            assert manifest.read_bytes() == damaged
    assert 20 < refused < 400  # where the head is hit
