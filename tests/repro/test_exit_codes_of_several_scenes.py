"""``raystream render`` of several scenes ended with 1, a fault of the program, for a file that is missing; of one scene
with 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from raystream.base.errors import ViewerError
from raystream.cli import rendering
from raystream.cli.main import main

SMALL = ("--size", "4x4", "--spp", "1", "--depth", "1", "--machine", "singlepass")


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.ply").write_text("ply\nno header\n")
    assert main(["render", "broken.ply", "-o", "{stem}.png", *SMALL]) == 2
    assert main(["render", "broken.ply", "cornell", "--jobs", jobs, "-o", "{stem}.png", *SMALL]) == 2
    assert Path("cornell.png").exists() and not Path("broken.png").exists()


def test_a_fault_of_the_program_counts_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    faults: dict[str, Exception] = {"cornell": ViewerError("a", "is missing"), "ring": KeyError("a bug")}

    def failing(task, *rest):
        raise faults[task.scene]

    monkeypatch.setattr(rendering, "render_picture", failing)
    assert main(["render", "cornell", "ring", "-o", "{stem}.png"]) == 1
    faults["ring"] = faults["cornell"]
    assert main(["render", "cornell", "ring", "-o", "{stem}.png"]) == 2
