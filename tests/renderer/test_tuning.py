"""What `auto` means on a device: forged times lead to forged choices, which are kept, read back, and change no bit."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.renderer.device import tuning as tunings
from raystream.renderer.device.tuning import (
    CHOICES,
    DEFAULTS,
    FORMAT,
    MAX_RUN_SECONDS,
    MAX_TIME_RATIO,
    TRIAL_SECONDS,
    WARMUP_RUNS,
    Skipped,
    Trial,
    fastest_values,
    trials,
    tuned,
    tuning,
)
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device
from raystream.stream.machines.multipass import Multipass

pytestmark = pytest.mark.usefixtures("tuning_folder")
OTHERS = {name: words[1] for name, words in CHOICES.items()}
ENTRY: dict[str, Any] = {"auto": OTHERS, "since": "2026-11-26", "note": ""}
ENTRY |= {"trials": [["mask", "kill", 0.5, 1.0]], "skipped": [["tile", "", "no census"]]}


class Forged:
    """Runs whose seconds follow from the values of options; those of ``missing`` are not there."""

    def __init__(self, seconds: Mapping[str, float], missing: str = "") -> None:
        self.seconds, self.missing, self.now, self.runs = seconds, missing, 0.0, 0

    def prepare(self, values: Mapping[str, str]) -> Any:
        yield
        assert values.keys() == CHOICES.keys()
        took = 0.01
        for word in values.values():
            took *= self.seconds.get(word, 1.0)

        def run() -> None:
            self.now += took
            self.runs += 1

        return "missing" if self.missing in values.values() else run

    def chosen(self) -> dict[str, str]:
        return fastest_values(trials(self.prepare, lambda: self.now))


@pytest.mark.parametrize("fuse", [0.5, 2.0])
@pytest.mark.parametrize("mask", [0.9, 1.0])
@pytest.mark.parametrize("count", [0.5, 1.01])
@pytest.mark.parametrize("tile", [0.9, 1.1])
@pytest.mark.parametrize("memory", [0.94, 0.96])
def test_forged_times_lead_to_the_forged_choice(
    fuse: float, mask: float, count: float, tile: float, memory: float
) -> None:
    """A census has tiles; without one there is nothing to choose."""
    forged = {"fuse": fuse, "mask": mask, "count": count, "tile": tile, "memory": memory}
    runs = Forged({OTHERS[name]: share for name, share in forged.items()})
    wanted = {name: OTHERS[name] if share < MAX_TIME_RATIO else DEFAULTS[name] for name, share in forged.items()}
    if count > MAX_TIME_RATIO:
        wanted["tile"] = DEFAULTS["tile"]
    assert runs.chosen() == wanted
    assert runs.now <= 1.2 * TRIAL_SECONDS and runs.runs >= 24


@pytest.mark.parametrize(("shares", "tile"), [({"8": 0.8, "32": 0.9}, "8"), ({"8": 0.8, "32": 0.7}, "32")])
def test_the_best_of_several_values_is_chosen(shares: dict[str, float], tile: str) -> None:
    assert Forged({"census": 0.5, **shares}).chosen()["tile"] == tile


def test_nothing_is_tried_where_a_run_takes_too_long() -> None:
    runs = Forged({"surface": 1.01 * MAX_RUN_SECONDS / 0.01})
    assert not any(trials(runs.prepare, lambda: runs.now, max_seconds=MAX_RUN_SECONDS)) and runs.runs == WARMUP_RUNS
    runs = Forged({"surface": 0.99 * MAX_RUN_SECONDS / 0.01})
    assert len([each for each in trials(runs.prepare, lambda: runs.now, max_seconds=MAX_RUN_SECONDS) if each]) == len(
        CHOICES
    )


@pytest.mark.parametrize(("share", "fuse"), [(0.5, "surface"), (1.0, "ray")])
def test_on_gpus_surfaces_are_tried_against_rays(share: float, fuse: str) -> None:
    first = tuning("one", False)
    assert first == DEFAULTS | {"fuse": "ray"}
    runs = Forged({"surface": share})
    found = [trial for trial in trials(runs.prepare, lambda: runs.now, first) if trial is not None]
    assert found[0][:2] == ("fuse", "surface") and len(found) == len(CHOICES)
    assert fastest_values(found, first) == first | {"fuse": fuse}


def test_results_are_kept_by_driver_build(tuning_folder: Path) -> None:
    assert tuning("one", True) == DEFAULTS
    tunings.save_tuning("one", OTHERS)
    tunings.save_tuning("other", DEFAULTS | {"mask": "kill"})
    assert (
        tuning("one", True) == OTHERS
        and tuning("other", True) == DEFAULTS | {"mask": "kill"}
        and tuning("third", True) == DEFAULTS
    )
    assert sorted(path.name for path in tuning_folder.iterdir()) == ["devices.json"]
    settings = Settings(mask="stencil")
    assert tuned(settings, "one", True) == settings.replace(fuse="ray", count="census", tile=8)
    assert tuned(Settings(fuse="none", mask="tiles", count="query"), "one", True).fuse == "none"


@pytest.mark.parametrize("content", [
    b"",
    b"{",
    b"\xff\xfe",
    b"[]",
    b"[" * 100_000,
    json.dumps({"format": FORMAT - 1, "drivers": {"one": OTHERS}}).encode(),
    json.dumps({"format": FORMAT, "drivers": [OTHERS]}).encode(),
    *(
        json.dumps({"format": FORMAT, "drivers": {"one": ENTRY | {name: value}}}).encode()
        for name, value in (
            ("auto", {"mask": "colour"}), ("auto", {"mask": ["kill"]}), ("auto", {"speed": "fast"}), ("auto", None),
            ("since", 2026), ("note", None), ("trials", {}), ("trials", [["mask", "colour", 1.0, 2.0]]),
            ("trials", [["mask", "kill", 1.0]]), ("trials", [["mask", "kill", 0.0, 2.0]]),
            ("trials", [["mask", "kill", float("nan"), 2.0]]), ("trials", [["mask", "kill", "1", 2.0]]),
            ("trials", [7]), ("trials", [[["mask"], "kill", 1.0, 2.0]]), ("skipped", None),
            ("skipped", [["tile", "7", "no"]]), ("skipped", [["tiles", "", "no"]]), ("skipped", [["tile", "", 7]]),
            ("skipped", [["tile", ""]]),
        )
    ),
    json.dumps({"format": FORMAT, "drivers": {"one": "kill"}}).encode(),
])  # fmt: skip
def test_a_damaged_or_old_file_counts_as_none(tuning_folder: Path, content: bytes) -> None:
    (tuning_folder / "devices.json").write_bytes(content)
    assert tuning("one", True) == DEFAULTS
    tunings.save_tuning("one", OTHERS)
    assert tuning("one", True) == OTHERS


def test_trials_are_kept_with_their_day(tuning_folder: Path) -> None:
    """In the process that has made them all stays as it was."""
    made, left = Trial("mask", "kill", 0.5, 1.0), Skipped("tile", "", "no census")
    assert tuning("one", True) == DEFAULTS
    tunings.save_tuning("one", OTHERS, [made, left], "a note", at_once=False)
    known = tunings.load_tuning()["one"]
    assert (known.chosen, known.trials, known.skipped, known.note) == (OTHERS, (made,), (left,), "a note")
    assert datetime.date.fromisoformat(known.since) <= datetime.date.today()
    assert tuning("one", True) == DEFAULTS
    tuning.cache_clear()
    assert tuning("one", True) == OTHERS


def test_a_folder_that_cannot_be_written_is_none(tuning_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tuning_folder / "file").write_text("")
    monkeypatch.setattr(tunings, "tuning_path", lambda: tuning_folder / "file" / "devices.json")
    tunings.save_tuning("one", OTHERS)
    assert tuning("one", True) == DEFAULTS


def test_a_choice_decides_machines_and_changes_no_bit(device: Device, tuning_folder: Path) -> None:
    asked = {"size": (40, 30), "spp": 2}
    before = Renderer("cornell", device=device, program="path").render(**asked)
    forged = DEFAULTS | {"fuse": "ray", "mask": "kill", "count": "census", "tile": "8"}
    tunings.save_tuning(device.driver, forged)
    renderer = Renderer("cornell", device=device, program="path")
    after = renderer.render(**asked)
    np.testing.assert_array_equal(after.linear, before.linear)
    machine = next(each for each in renderer.gpu_scene.machines.values() if isinstance(each, Multipass))
    assert (machine.options.fuse, machine.options.mask, machine.count) == ("ray", "kill", "census")
    assert machine.options.tile == machine.tiles.edge == 8
    names = "fuse", "mask", "count", "tile"
    assert [before.metadata[name] for name in names] == ["surface", "depth", "query", "16"]
    assert [after.metadata[name] for name in names] == ["ray", "kill", "census", "8"]
    asked_for = Renderer("cornell", device=device, program="path", mask="depth", fuse="surface", count="query")
    machine = asked_for.gpu_scene.machines.take(
        asked_for.program(),
        asked_for.gpu_scene.picture_key(asked_for.program(), asked_for.settings, "rays", (8, 8)),
        asked_for.settings,
    )
    assert (machine.options.fuse, machine.options.mask, machine.count) == ("surface", "depth", "query")


def test_memory_by_choice(device: Device, tuning_folder: Path) -> None:
    buffers = Renderer("cornell").device
    tunings.save_tuning(device.driver, DEFAULTS | {"memory": "texture"})
    assert Renderer("cornell").device.max_buffer == 0
    assert Renderer("cornell", memory="buffer").device is buffers
    assert Renderer("cornell", memory="texture").device.max_buffer == 0


def test_another_process_tells_what_was_measured(device: Device, tmp_path: Path) -> None:
    """And measures nothing again."""
    kept = {"format": FORMAT, "drivers": {device.driver: ENTRY}}
    (tmp_path / "devices.json").write_text(json.dumps(kept))
    environment = {**os.environ, "RAYSTREAM_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "raystream", "devices", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    default = next(each for each in json.loads(done.stdout) if each["default"])
    assert default["auto"] == OTHERS and default["measured"] and default["since"] == ENTRY["since"]
    assert default["trials"] == [{"option": "mask", "value": "kill", "seconds": 0.5, "before": 1.0}]
    assert default["skipped"] == [{"option": "tile", "value": "", "reason": "no census"}]
    assert json.loads((tmp_path / "devices.json").read_text()) == kept
