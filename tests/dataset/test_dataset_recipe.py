"""Recipes: what they mean, one line for each that is wrong, and what they draw: functions of seed and number."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recipes import cube, marks, recipe, stage

from raystream.base.errors import ViewerError
from raystream.dataset import sampling
from raystream.dataset.recipe import DatasetRecipe, read_recipe
from raystream.dataset.sampling import SceneLayout, Shape

PLAIN = """
seed = 3
scenes = 4
views = 5
size = [64, 48]
formats = ["coco"]
render = { spp = 4, program = "path" }
[[models]]
file = "a.obj"
size = [0.1, 0.2]
count = [0, 3]
[[models]]
file = "b.glb"
size = 0.5
[cameras]
distance = 2
elevation = [-10, 80]
"""


def test_values_and_defaults(tmp_path: Path) -> None:
    path = tmp_path / "made.toml"
    path.write_text(PLAIN)
    found = read_recipe(str(path))
    assert (found.seed, found.scenes, found.views, found.pictures, found.size) == (3, 4, 5, 20, (64, 48))
    assert found.formats == ("coco",) and found.layers == ("depth", "normal", "flow")
    first, second = found.models
    assert (first.size, first.count, second.size, second.count) == ((0.1, 0.2), (0, 3), (0.5, 0.5), (1, 1))
    assert found.cameras.distance == (2.0, 2.0) and found.cameras.elevation == (-10.0, 80.0)
    assert found.render["spp"] == 4 and found.render["denoise"] == "shader" and found.render["program"] == "path"
    assert found.folder == str(tmp_path) and found.name == str(path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scene": 3}, "r.toml: unknown key 'scene' (did you mean 'scenes'?)"),
        ({"models": [{"fiel": "a.obj"}]}, "r.toml: models[0]: unknown key 'fiel' (did you mean 'file'?)"),
        ({"models": [{"file": "a"}, {"size": 1}]}, "r.toml: models[1]: the key 'file' is missing"),
        ({"models": []}, "r.toml: models: 0 of them; expected 1 to 4,096"),
        ({"models": {"file": "a"}}, "r.toml: models: expected tables of models (write [[models]])"),
        (
            {"models": [{"file": "a", "count": 100_000}]},
            "r.toml: models[0]: count: 100000; expected a whole number from",
        ),
        (
            {"models": [{"file": "a", "count": 3000}] * 2},
            "r.toml: models: up to 6,000 copies in a scene (at most 4,096)",
        ),
        ({"models": [{"file": "a", "name": "n" * 10_240}]}, "r.toml: models[0]: name: 'nnnn"),
        (
            {"models": [{"file": "a", "size": [2, 1]}]},
            "r.toml: models[0]: size: [2, 1]; expected a range [low, high] (it is",
        ),
        ({"models": [{"file": "a", "size": [1, 2]}]}, "r.toml: models[0]: size: BOP's poses have no scale"),
        ({"cameras": {}}, "r.toml: cameras: the key 'distance' is missing"),
        (
            {"cameras": {"distance": 1, "path": "orbits"}},
            "r.toml: cameras: path: 'orbits'; expected random or orbit (did you",
        ),
        ({"cameras": {"distance": 1, "intrinsics": [0, 1, 0, 0]}}, "r.toml: cameras: intrinsics: focal length fx 0"),
        ({"cameras": {"distance": 1, "distortion": [0.1, 0, 0, 0]}}, "r.toml: cameras: distortion: needs intrinsics"),
        (
            {"cameras": {"distance": 1, "intrinsics": [9, 9, 1, 1], "distortion": [0.1, 0, 0, 0]}},
            "r.toml: cameras: distortion: BOP has no distortion",
        ),
        (
            {"formats": ["nerf"], "cameras": {"distance": 1, "intrinsics": [9, 9, 1, 1], "distortion": [0.1] * 8}},
            "r.toml: cameras: distortion: NeRF's files hold k1, k2, p1, p2, k3 alone",
        ),
        (
            {"poses": {"area": [[0, 0, 0], [1, -1, 1]]}},
            "r.toml: poses: area: [[0, 0, 0], [1, -1, 1]]; expected two corners",
        ),
        ({"formats": ["coco", "coco"]}, "r.toml: formats: ['coco', 'coco']; expected each value once"),
        ({"formats": ["voc"]}, "r.toml: formats: ['voc']; expected coco, bop or nerf"),
        ({"scenes": 10_000, "views": 10_000}, "r.toml: 10,000 scenes of 10,000 views (at most 1,000,000 pictures)"),
        ({"poses": {"area": [[0, 0, 0], [10**400, 0, 0]]}}, "r.toml: poses: area: [[0, 0, 0], [1000"),
        ({"render": {"tonemap": "agxx"}}, "r.toml: render: tonemap 'agxx'"),
        ({"render": {"program": "my.py"}}, "r.toml: render: program 'my.py': is a file"),
        ({"render": {"sppp": 3}}, "r.toml: render: unknown option 'sppp' (did you mean 'spp'?)"),
        ({"render": {"fov": 40}}, "r.toml: render: fov: is no option of a recipe's pictures (cam"),
        ({"render": {"spp": 1, "seed": 3}}, "r.toml: render: seed: is a key of the recipe itself"),
        ({"cameras": {"distance": 2, "size": [8, 8]}}, "r.toml: cameras: size: is a key of the recipe itself"),
        ({"render": {"spp": 0}}, "r.toml: render: spp 0: expected a whole number"),
        ({"render": {"exposure": "auto"}}, "r.toml: render: exposure: auto differs from picture to picture"),
    ],
)
def test_refusals(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ViewerError) as error:
        recipe(tmp_path, **given)
    line = error.value.typed
    assert line.startswith(said), line
    assert len(line) < 400 and "\n" not in line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"seed = ", "is no TOML: Invalid value"),
        (b"\xff\xfe", "is no TOML: 'utf-8' codec"),
        (b"a = " + b"[" * 100_000, "is no TOML: "),
        (b"#" * (17 << 20), "has more than 16,777,216 bytes"),
    ],
)
def test_files_that_are_none(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_bytes(data)
    with pytest.raises(ViewerError) as error:
        read_recipe(str(path))
    assert error.value.typed.startswith(f"{path}: {said}")
    with pytest.raises(ViewerError, match="cannot be read: No such file"):
        read_recipe(str(tmp_path / "none.toml"))
    with pytest.raises(ViewerError, match="cannot be read: File name too long"):
        read_recipe("n" * 10_000)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"models": [{"file": "none.glb"}]}, "r.toml: models[0]: "),
        ({"models": [{"file": "none"}]}, "r.toml: models[0]: "),
        ({"models": [{"file": "n" * 4000}]}, "r.toml: models[0]: "),
        ({"models": [{"file": "point.obj"}]}, "r.toml: models[0]: point.obj: has no extent"),
        ({"environment": {"choices": ["none.hdr"]}}, "r.toml: environment: choices: there is no file"),
    ],
)
def test_missing_files(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    cube(tmp_path)
    (tmp_path / "point.obj").write_text("v 1 1 1\nf 1 1 1\n")
    with pytest.raises(ViewerError) as error:
        stage(tmp_path, **given)
    assert error.value.typed.startswith(said) and len(error.value.typed) < 700


def test_objects_and_categories(tmp_path: Path) -> None:
    """By the recipe, by the file's classes, and by names; equal names are told apart."""
    cube(tmp_path)
    marks(tmp_path)
    models = [
        {"file": "marks.gltf", "split": True, "name": "m"},
        {"file": "marks.gltf"},
        {"file": "cube.obj", "category": "box"},
        {"file": "cube.obj", "annotate": False},
        {"file": "cube.obj"},
    ]
    found = stage(tmp_path, models=models)
    names = [(kind.model, kind.part, kind.name, found.categories[kind.category]) for kind in found.kinds]
    assert names == [
        (0, 0, "m/mark 0", "edge"),
        (0, 1, "m/mark 1", "edge"),
        *((0, k, f"m/mark {k}", f"mark {k}") for k in (2, 3, 4)),
        (1, -1, "marks", "edge"),
        (2, -1, "cube", "box"),
        (4, -1, "cube 3", "cube 3"),
    ]
    assert stage(tmp_path, models=models).digest == found.digest
    cube(tmp_path, 2.0)
    assert stage(tmp_path, models=models).digest != found.digest


def test_the_digest_is_of_content_and_not_of_places(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder in "ab":
        cube(tmp_path / folder)
    first = stage(tmp_path / "a").digest
    assert stage(tmp_path / "b").digest == first
    assert {stage(tmp_path / "a", seed=1).digest, stage(tmp_path / "a", scenes=2).digest}.isdisjoint({first})
    assert stage(tmp_path / "a", render={"spp": 2}).digest != first


# Of seed 5: a position and a camera of scene 3, and the seed of picture 11.
POSITION = (0.3284962605118853, 0.24931890911792357, -0.3657781771714643)
ORIGIN = (1.33206349484269, 1.2092205067878699, -2.789997964459021)
SEED = 1361766186
BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], float)
SHAPE = Shape(BOX, 6.0, math.sqrt(14))


def made(folder: Path, scene: int = 0, **given: Any) -> tuple[DatasetRecipe, SceneLayout]:
    """A recipe of one model, and a scene of it."""
    found = recipe(folder, **given)
    return found, sampling.sample_layout(found, [SHAPE] * len(found.models), scene)


def flat(layout: SceneLayout) -> list[float]:
    """All numbers of a layout."""
    copies = (np.concatenate([each.matrix.ravel(), [each.model]]) for each in layout.placements)
    lights = ((*each.position, *each.intensity) for each in layout.lights)
    rest = [layout.environment, layout.rotation, layout.sun, *layout.middle]
    return [float(value) for part in (*copies, *lights, rest) for value in part]


def test_a_scene_is_a_function_of_seed_and_number(tmp_path: Path) -> None:
    given: dict[str, Any] = {"models": [{"file": "a", "count": [1, 5]}], "lights": {"count": [0, 3]}}
    first = flat(made(tmp_path, 7, **given)[1])
    assert flat(made(tmp_path, 7, **given)[1]) == first
    others = [flat(made(tmp_path, 8, **given)[1]), flat(made(tmp_path, 7, seed=1, **given)[1])]
    assert first not in others


def test_numbers_stay_from_version_to_version(tmp_path: Path) -> None:
    """Of NumPy, which promises the bits of its generators and of `random`, and of this one."""
    found, layout = made(tmp_path, 3, seed=5, poses={"turn": "any"})
    np.testing.assert_allclose(layout.placements[0].position, POSITION, rtol=1e-12)
    np.testing.assert_allclose(sampling.sample_camera(found, layout.middle, 3, 2).origin, ORIGIN, rtol=1e-12)
    assert sampling.picture_seed(found, 11) == SEED


def test_one_subject_leaves_the_others(tmp_path: Path) -> None:
    """More lights move neither models nor cameras."""
    plain, without = made(tmp_path)
    lit, layout = made(tmp_path, lights={"count": [3, 3]})
    assert len(layout.lights) == 3 and not without.lights
    np.testing.assert_array_equal(layout.placements[0].matrix, without.placements[0].matrix)
    assert sampling.sample_camera(lit, layout.middle, 0, 4) == sampling.sample_camera(plain, without.middle, 0, 4)


def test_copies_rest_and_stay_in_the_area(tmp_path: Path) -> None:
    area = [[-1, 0.5, 2], [1, 0.5, 4]]
    for number in range(20):
        _, layout = made(
            tmp_path,
            number,
            models=[{"file": "a", "size": [0.5, 2], "count": [0, 2]}],
            poses={"area": area, "turn": "any"},
            formats=["coco"],
        )
        assert len(layout.placements) <= 2
        for each in layout.placements:
            assert 0.5 / 6 <= each.scale <= 2 / 6
            np.testing.assert_allclose(each.rotation @ each.rotation.T, np.eye(3), atol=1e-12)
            assert np.linalg.det(each.rotation) > 0
            points = BOX @ each.matrix[:3, :3].T + each.position
            assert points[:, 1].min() == pytest.approx(0.5)
            assert -1 <= each.position[0] <= 1 and 2 <= each.position[2] <= 4
    counts = {len(made(tmp_path, k, models=[{"file": "a", "count": [0, 2]}])[1].placements) for k in range(40)}
    assert counts == {0, 1, 2}


@pytest.mark.parametrize("turn", ["upright", "none"])
def test_turns(turn: str, tmp_path: Path) -> None:
    rotations = [made(tmp_path, k, poses={"turn": turn, "rest": False})[1].placements[0].rotation for k in range(50)]
    assert all(np.allclose(each[1], (0, 1, 0)) and np.allclose(each[:, 1], (0, 1, 0)) for each in rotations)
    assert (np.ptp([each[0, 0] for each in rotations]) > 1) == (turn == "upright")


def test_any_rotation_is_alike_over_all(tmp_path: Path) -> None:
    """An axis goes everywhere: its means vanish, its second moments are a third. Of 4,000 turns means have a standard
    deviation of 0.0091, and the moments of 0.0047: five of them are a chance of 1e-5 in all."""
    draw = np.random.default_rng(1)
    turned = np.array([sampling.sample_rotation("any", draw) for _ in range(4000)])
    assert np.abs(turned.mean(axis=0)).max() < 0.046
    assert np.abs((turned**2).mean(axis=0) - 1 / 3).max() < 0.024
    angles = np.arccos(np.clip((np.trace(turned, axis1=1, axis2=2) - 1) / 2, -1, 1))
    # The angle's distribution is (a - sin a) / pi: half of all are beyond 132 degrees.
    assert abs((angles - np.sin(angles)).mean() / np.pi - 0.5) < 5 * math.sqrt(1 / 12 / 4000)


def test_copies_keep_apart(tmp_path: Path) -> None:
    """Of many positions the one of most room is taken: two small copies hardly ever overlap in a large area."""

    def gaps(apart: bool) -> int:
        close = 0
        for number in range(30):
            poses = {"area": [[-4, 0, -4], [4, 0, 4]], "apart": apart}
            _, layout = made(tmp_path, number, models=[{"file": "a", "size": 1.5, "count": 4}], poses=poses)
            places = [each.position for each in layout.placements]
            away = [math.dist(a, b) for k, a in enumerate(places) for b in places[:k]]
            close += min(away) < 2 * SHAPE.radius * 1.5 / 6
        return close

    assert gaps(True) == 0 < gaps(False)


def test_cameras_are_on_their_shell(tmp_path: Path) -> None:
    cameras = {"distance": [2, 3], "elevation": [10, 50], "azimuth": [-30, 90], "roll": [-20, 20], "fov": 33}
    found, layout = made(tmp_path, cameras=cameras)
    heights = []
    for view in range(300):
        eye = sampling.sample_camera(found, layout.middle, 0, view)
        away = np.subtract(eye.origin, layout.middle)
        distance = np.linalg.norm(away)
        assert 2 <= distance <= 3 and eye.fov == 33
        heights.append(away[1] / distance)
        assert -30 - 1e-9 <= math.degrees(math.atan2(away[0], away[2])) <= 90 + 1e-9
        np.testing.assert_allclose(eye.target, layout.middle, atol=1e-12)
        right, up, _ = eye.basis()
        assert abs(math.degrees(math.asin(right[1] / math.hypot(right[1], up[1])))) <= 20 + 1e-6
    low, high = math.sin(math.radians(10)), math.sin(math.radians(50))
    assert low <= min(heights) and max(heights) <= high
    # Alike over the sphere: heights are uniform. The mean's standard deviation is a twelfth's root by that of 300.
    assert abs(np.mean(heights) - (low + high) / 2) < 4 * (high - low) / math.sqrt(12 * 300)


def test_an_orbit_goes_in_even_steps(tmp_path: Path) -> None:
    cameras = {"distance": 2, "elevation": 20, "path": "orbit"}
    found, layout = made(tmp_path, cameras=cameras, views=8)
    away = [np.subtract(sampling.sample_camera(found, layout.middle, 0, k).origin, layout.middle) for k in range(8)]
    angles = np.degrees([math.atan2(each[0], each[2]) for each in away]) % 360
    np.testing.assert_allclose(angles, np.arange(8) * 45, atol=1e-9)


def test_targets_lie_aside(tmp_path: Path) -> None:
    found, layout = made(tmp_path, cameras={"distance": 2, "aside": 0.3})
    away = [math.dist(sampling.sample_camera(found, layout.middle, 0, k).target, layout.middle) for k in range(200)]
    assert 0.2 < max(away) <= 0.3
    assert abs(np.mean(np.array(away) ** 3) / 0.027 - 0.5) < 0.1  # alike over the ball


def test_lights_shine_on_the_middle(tmp_path: Path) -> None:
    lights = {"count": 4, "distance": [3, 5], "elevation": [60, 90], "irradiance": [2, 3]}
    lights["colors"] = [[1, 0, 0], [0, 1, 1]]
    _, layout = made(tmp_path, lights=lights)
    colors = set()
    for each in layout.lights:
        distance = math.dist(each.position, layout.middle)
        assert 3 <= distance <= 5
        assert 2 <= max(each.intensity) / distance**2 <= 3
        assert (each.position[1] - layout.middle[1]) / distance >= math.sin(math.radians(60)) - 1e-9
        colors.add(tuple(np.sign(each.intensity)))
    assert colors <= {(1, 0, 0), (0, 1, 1)} and len(layout.lights) == 4


def test_environments_are_chosen(tmp_path: Path) -> None:
    environment = {"choices": ["sky", "none", [1, 1, 1]], "rotation": [10, 20], "sun": [30, 40]}
    found = [made(tmp_path, k, environment=environment)[1] for k in range(30)]
    assert {each.environment for each in found} == {0, 1, 2}
    assert all(10 <= each.rotation <= 20 and 30 <= each.sun <= 40 for each in found)
