"""A dataset by the workers of a cluster: the bytes of one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from raystream.dataset.picture import DatasetRenderer
from raystream.dataset.recipe import parse_recipe
from raystream.dataset.stage import DatasetStage
from raystream.farm import worker
from raystream.farm.pictures import render_dataset

MODEL = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
GIVEN = {
    "scenes": 2,
    "views": 2,
    "size": [24, 18],
    "cameras": {"distance": [1, 2]},
    "lights": {"count": [1, 2]},
    "render": {"spp": 1, "denoise": "none", "machine": "singlepass"},
    "models": [{"file": "a.obj", "size": 0.5, "count": 2}],
}


@pytest.fixture
def stage(tmp_path: Path) -> DatasetStage:
    """Of a small recipe."""
    (tmp_path / "a.obj").write_text(MODEL)
    return DatasetStage(parse_recipe(dict(GIVEN), "r.toml", str(tmp_path)))


@pytest.mark.usefixtures("device")
def test_workers_make_the_same_bytes(stage: DatasetStage, scheduler: str) -> None:
    """The models travel: workers have no files of theirs."""
    (Path(stage.recipe.folder) / "a.obj").unlink()
    found = {made.index: made for made in render_dataset(stage, [3, 0, 2], scheduler)}
    renderer = DatasetRenderer(stage)
    for number in (0, 2, 3):
        own = renderer.render(number)
        assert found[number].files == own.files and found[number].record == own.record
    renderer.release()
    assert found.keys() == {0, 2, 3}


def test_a_worker_without_the_stage_says_so() -> None:
    with pytest.raises(worker.SceneLost):
        worker.dataset_picture("unknown", 0)
