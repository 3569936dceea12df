"""Films through the command: resumed renders, bad input, what files say, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from signals import heeding

from raystream.cli import main as cli
from raystream.film.files import image

ROOT = Path(__file__).resolve().parents[2]
BASE = ["render", "cornell", "--size", "20x16", "--depth", "2", "--machine", "singlepass", "--quiet"]


def run(*words: object) -> int:
    return cli.main([*BASE, *map(str, words)])


def films(*paths: Path) -> list[dict[str, np.ndarray]]:
    return [{k: v for k, v in image.read_exr(path)[1].items() if k.startswith("film.")} for path in paths]


def test_the_command_resumes(device, tmp_path: Path) -> None:
    part, after, straight = (tmp_path / name for name in ("part.exr", "after.exr", "straight.exr"))
    assert run("--spp", 3, "-o", part) == run("--spp", 9, "-o", straight) == 0
    assert run("--spp", 9, "--resume", part, "-o", after) == 0
    one, other = films(after, straight)
    assert one.keys() == other.keys() and len(one) == 10
    told = [image.read_exr(path)[0]["film.differences"] for path in (after, straight)]
    assert told[0] == told[1] and told[0].startswith("3:")
    for name, channel in one.items():
        assert channel.tobytes() == other[name].tobytes(), name
    assert run("--spp", 12, "--resume", part, "-o", part) == 0  # into its own file
    assert set(np.unique(films(part)[0]["film.count"])) == {12}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--resume", "none.exr"], "none.exr"),
        (["--depth", "1025"], "--depth"),
        (["--strategy", "luck"], "--strategy"),
        (["--clamp", "nan"], "--clamp"),
        (["--environment", "missing.exr"], "missing.exr"),
        (["--environment", "1,1"], "1,1"),
        (["--light", "nobody=0,0,0"], "nobody"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    assert run("-o", tmp_path / "a.exr", *words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("raystream: error: ") and expected in error
    assert os.listdir(tmp_path) == []


def test_an_environment_with_a_nan_is_one_line(device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is mended; a picture that has no finite light at all is an error."""
    pixels = np.ones((4, 8, 3), np.float32)
    pixels[2, 3, 1] = np.nan
    image.save(tmp_path / "sky.exr", pixels, {}, {})
    telling = [word for word in BASE if word != "--quiet"]
    words = ["-o", str(tmp_path / "a.exr"), "--environment", str(tmp_path / "sky.exr")]
    assert cli.main([*telling, *words]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "sky.exr" in line]
    assert "1 pixel is not a number" in line
    _, channels = image.read_exr(tmp_path / "a.exr")
    assert all(np.isfinite(channels[name]).all() and channels[name].any() for name in "RGB")
    image.save(tmp_path / "sky.exr", np.full((4, 8, 3), np.inf, np.float32), {}, {})
    assert run("-o", tmp_path / "b.exr", "--environment", tmp_path / "sky.exr") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "sky.exr" in error and not (tmp_path / "b.exr").exists()


def test_the_command_says_that_it_took_the_sky(device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "unlit.obj"
    scene.write_text("v -1 -1 0\nv 1 -1 0\nv 0 1 0\nf 1 2 3\n")
    words = ["render", str(scene), "--size", "12x8", "--spp", "1", "--machine", "singlepass", "-o"]
    lit, dark = str(tmp_path / "lit.exr"), str(tmp_path / "dark.exr")
    assert cli.main([*words, lit]) == 0
    assert "sky" in capsys.readouterr().err
    assert cli.main([*words, dark, "--environment", "none"]) == 0
    assert "sky" not in capsys.readouterr().err
    assert image.read_exr(lit)[1]["R"].max() > 0 and not image.read_exr(dark)[1]["R"].any()


def test_layers_and_what_a_file_says(device, tmp_path: Path) -> None:
    path, stats = tmp_path / "a.exr", tmp_path / "s.json"
    assert run("--spp", 4, "--layers", "bounce", "-o", path, "--stats", stats, "--seed", 3) == 0
    header, channels = image.read_exr(path)
    assert {f"bounce.{number}.{c}" for number in range(3) for c in "RGB"} <= channels.keys()
    summed = sum(channels[f"bounce.{number}.R"].astype(np.float64) for number in range(3))
    np.testing.assert_allclose(summed, channels["R"], rtol=2e-6, atol=1e-7)
    for name, value in {"program": "path", "depth": "2", "seed": "3", "samples": "4", "sampler": "sobol"}.items():
        assert header[name] == value, name
    assert header["scene"] and header["raystream"]
    assert json.loads(stats.read_text())["samples"] == 4


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------


def interrupted(folder: Path, name: str, seconds: float) -> tuple[int, str]:
    """Exit code and last words of a long render that is stopped after so long."""
    words = ["cornell", "--size", "48x36", "--depth", "2", "--machine", "singlepass", "--spp", "20000", "-o", name]
    command = [sys.executable, "-P", "-m", "raystream", "render", *words]
    child = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=heeding)
    time.sleep(seconds)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=600)
    return child.returncode, error


@pytest.mark.parametrize("name", ["a.exr", "a.png"])
def test_stopped_with_ctrl_c_it_goes_on_to_the_bit(device, tmp_path: Path, name: str) -> None:
    for seconds in (1.5, 3.0, 6.0, 15.0, 60.0, 240.0):  # on a busy machine the first sample may take a while
        code, error = interrupted(tmp_path, name, seconds)
        if os.listdir(tmp_path):
            break
    *progress, last = error.splitlines()
    assert code == 130 and "--resume" in last and error.endswith("\n"), error
    assert all("of 20,000 samples, noise" in line for line in progress), error  # every ten seconds a line
    (state,) = os.listdir(tmp_path)
    assert state == f"{name}.state.exr"
    (kept,) = films(tmp_path / state)
    done = int(kept["film.count"].min())
    assert done == kept["film.count"].max() >= 1
    options: list[object] = ["cornell", "--size", "48x36", "--depth", "2", "--machine", "singlepass", "--quiet"]
    command = ["render", *map(str, options), "--spp", str(done + 6)]
    assert cli.main([*command, "-o", str(tmp_path / "on.exr"), "--resume", str(tmp_path / state)]) == 0
    assert cli.main([*command, "-o", str(tmp_path / "straight.exr")]) == 0
    one, other = films(tmp_path / "on.exr", tmp_path / "straight.exr")
    for key, channel in one.items():
        assert channel.tobytes() == other[key].tobytes(), key
