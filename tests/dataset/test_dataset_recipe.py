"""Recipes: what they mean, and one line for each that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recipes import cube, marks, recipe, stage

from raystream.base.errors import ViewerError
from raystream.dataset.recipe import read_recipe

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
        ({"name": "x"}, "r.toml: unknown key 'name' (known: models, cameras"),
        ({"models": [{"fiel": "a.obj"}]}, "r.toml: models[0]: unknown key 'fiel' (did you mean 'file'?)"),
        ({"models": [{"file": "a"}, {"size": 1}]}, "r.toml: models[1]: the key 'file' is missing"),
        ({"models": []}, "r.toml: models: 0 of them; expected 1 to 4,096"),
        ({"models": {"file": "a"}}, "r.toml: models: expected tables of models (write [[models]])"),
        ({"models": [3]}, "r.toml: models[0]: 3 is no table of keys and values"),
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
            {"models": [{"file": "a", "category": "a\nb"}]},
            "r.toml: models[0]: category: 'a\\nb'; expected a text without",
        ),
        ({"models": [{"file": ""}]}, "r.toml: models[0]: file: ''; expected a text"),
        (
            {"models": [{"file": "a", "size": [2, 1]}]},
            "r.toml: models[0]: size: [2, 1]; expected a range [low, high] (it is",
        ),
        ({"models": [{"file": "a", "size": 0}]}, "r.toml: models[0]: size: 0; expected a number above 0 to 1e+06"),
        ({"models": [{"file": "a", "size": [1, 2]}]}, "r.toml: models[0]: size: BOP's poses have no scale"),
        ({"cameras": {}}, "r.toml: cameras: the key 'distance' is missing"),
        (
            {"cameras": {"distance": 1, "elevation": [0, 91]}},
            "r.toml: cameras: elevation: [0, 91]; expected a number from -90",
        ),
        (
            {"cameras": {"distance": 1, "path": "orbits"}},
            "r.toml: cameras: path: 'orbits'; expected random or orbit (did you",
        ),
        (
            {"cameras": {"distance": 1, "intrinsics": [1, 1, 0]}},
            "r.toml: cameras: intrinsics: [1, 1, 0]; expected a list of 4",
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
        ({"poses": {"turn": 3}}, "r.toml: poses: turn: 3; expected upright, any or none"),
        ({"lights": {"colors": [[1, 2, 0]]}}, "r.toml: lights: colors: [[1, 2, 0]]; expected a number from 0 to 1"),
        ({"environment": {"choices": []}}, "r.toml: environment: choices: []; expected a list of 1 to"),
        ({"formats": ["coco", "coco"]}, "r.toml: formats: ['coco', 'coco']; expected each value once"),
        ({"formats": ["voc"]}, "r.toml: formats: ['voc']; expected coco, bop or nerf"),
        ({"layers": ["dept"]}, "r.toml: layers: ['dept']; expected depth,"),
        ({"size": [640]}, "r.toml: size: [640]; expected a list of 2 values"),
        ({"scenes": 10_000, "views": 10_000}, "r.toml: 10,000 scenes of 10,000 views (at most 1,000,000 pictures)"),
        ({"poses": {"area": [[0, 0, 0], [10**400, 0, 0]]}}, "r.toml: poses: area: [[0, 0, 0], [1000"),
        ({"render": {"tonemap": "agxx"}}, "r.toml: render: tonemap 'agxx'"),
        ({"render": {"program": "my.py"}}, "r.toml: render: program 'my.py': is a file"),
        ({"render": {"sppp": 3}}, "r.toml: render: unknown option 'sppp' (did you mean 'spp'?)"),
        ({"render": {"camera": "1,2,3 0,0,0"}}, "r.toml: render: camera: is no option of a recipe's pictures (cam"),
        ({"render": {"spp": 1, "seed": 3}}, "r.toml: render: seed: is a key of the recipe itself"),
        ({"cameras": {"distance": 2, "size": [8, 8]}}, "r.toml: cameras: size: is a key of the recipe itself"),
        ({"render": {"spp": 0}}, "r.toml: render: spp 0: expected a whole number"),
        ({"render": {"program": "pathes"}}, "r.toml: render: program 'pathes': expected"),
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
