"""The tutorials: their code runs as it stands, with few pixels and samples, and leaves the pictures that they show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tutorials import run as tutorials

import raystream
from raystream.base.errors import ViewerError
from raystream.programs.registry import PICTURES
from raystream.renderer.inputs import program_file

ROOT = Path(__file__).resolve().parents[1]
SLOW = ("6_a_farm",)  # starts processes
pytestmark = pytest.mark.skipif(
    not (ROOT / "assets" / "pictures").is_dir(), reason="pictures are in the repository alone"
)


@pytest.mark.parametrize("page", tutorials.TUTORIALS, ids=lambda page: page.stem)
def test_pages_show_pictures_of_their_own(page: Path) -> None:
    """Which are in the repository, and are not heavy."""
    shown = tutorials.pictures(page)
    assert shown and all(0 < (tutorials.PICTURES / name).stat().st_size < 400_000 for name in shown)


def test_every_picture_is_shown() -> None:
    shown = {name for page in tutorials.TUTORIALS for name in tutorials.pictures(page)}
    assert {path.name for path in tutorials.PICTURES.iterdir()} == shown


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow if page.stem in SLOW else (), id=page.stem)
        for page in tutorials.TUTORIALS
    ],
)
def test_it_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: object) -> None:
    monkeypatch.chdir(tmp_path)
    tutorials.run(page, small=True)
    assert {path.name for path in tmp_path.iterdir()} >= set(tutorials.pictures(page))


@pytest.fixture
def registry() -> Iterator[None]:
    """Programs that files of a test register go with it."""
    kept = [(found, dict(found)) for found in (PICTURES, program_file._FILES)]
    yield
    for found, before in kept:
        found.clear()
        found.update(before)


@pytest.mark.usefixtures("registry")
def test_the_program_of_the_third_has_motion_blur(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: object
) -> None:
    """Its picture with an open shutter is the mean of those of moments of this time."""
    monkeypatch.chdir(tmp_path)
    (page,) = (page for page in tutorials.TUTORIALS if page.name.startswith("3"))
    for block in tutorials.blocks(page):
        if block.name:
            Path(block.name).write_text(block.code, encoding="utf-8")

    def mean(moment: float, **options: Any) -> float:
        common = {"program": "my_ao.py", "size": (48, 36), "moment": moment, "device": device}
        return float(raystream.render("balls", **common, **options).linear.mean())

    open_shutter = mean(0.3, spp=32, shutter=(0.0, 1.0))
    moments = [mean(0.3 + (number + 0.5) / 4 / 30, spp=8, seed=number) for number in range(4)]
    assert abs(open_shutter - sum(moments) / len(moments)) < 0.01  # 5 standard deviations


FAULTS = {
    "command": ("```sh\nraystream render nowhere.ply -o a.png\n```\n", RuntimeError),
    "word": ("```sh\nraytream render cornell -o a.png\n```\n", RuntimeError),
    "option": ("```sh\nraystream view cornell --sise 3x3\n```\n", ViewerError),
    "python": ("# A\n\n```python\na = 1\nassert a == 2\n```\n", AssertionError),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a command, a script and a file; a script's with the page's line."""
    text, kind = FAULTS[fault]
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as told:
        tutorials.run(page, small=True)
    if fault == "python":
        assert told.traceback[-1].lineno == 4  # counted from 0
