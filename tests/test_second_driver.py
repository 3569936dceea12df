"""SwiftShader, a driver that has nothing in common with Mesa's llvmpipe but the OpenGL front end: bits hold among its
machines, and pictures agree with this process's driver as far as rounding lets them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream import Renderer

SIZE, SAMPLES = (24, 20), 4
MACHINES = ({"machine": "singlepass"}, {"fuse": "surface"}, {"fuse": "none", "mask": "kill", "count": "census"})
RUNS = {"cast": MACHINES, "path": MACHINES[:2]}
SCRIPT = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[1])))
import test_second_driver

test_second_driver.leave(Path(sys.argv[2]))
"""


def pictures(program: str, **choices: str) -> dict[str, np.ndarray]:
    """What a program makes of the Cornell box on the device of this process."""
    renderer = Renderer(raystream.load("cornell"), program=program, **choices)
    if program == "cast":
        made = renderer.render(SIZE, layers=("triangle", "depth", "steps"))
        return {"linear": made.linear, **made.layers}
    film = renderer.render(SIZE, spp=SAMPLES).film
    assert film is not None
    return {"mean": film.mean(), "count": film.count}


def leave(folder: Path) -> None:
    """Save the pictures of all machines: the other process."""
    for program, machines in RUNS.items():
        for number, choices in enumerate(machines):
            np.savez(folder / f"{program}{number}.npz", **pictures(program, **choices))


@pytest.fixture(scope="module")
def left(second_driver: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the pictures of the second driver."""
    folder = tmp_path_factory.mktemp("left")
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(folder)]
    done = subprocess.run(command, env=second_driver, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("program", RUNS)
def test_machines_agree_to_the_bit(left: Path, program: str) -> None:
    first = np.load(left / f"{program}0.npz")
    assert first["linear" if program == "cast" else "mean"].max() > 0.1
    for number, choices in enumerate(RUNS[program]):
        other = np.load(left / f"{program}{number}.npz")
        for name in first.files:
            if name != "steps" or "count" not in choices:  # a pass of one kernel has no stack, and walks by octants
                assert first[name].tobytes() == other[name].tobytes(), (choices, name)


def test_hits_are_those_of_the_first_driver(left: Path) -> None:
    """The same triangles in the same number of steps; distances and shades but for rounding, of which the drivers'
    division and square root, off by up to 2.5 units in the last place, make the most."""
    here, there = pictures("cast", **MACHINES[0]), np.load(left / "cast0.npz")
    for name in ("triangle", "steps"):
        assert np.array_equal(here[name], there[name]), name
    hit = here["triangle"] >= 0
    assert hit.mean() > 0.5
    np.testing.assert_allclose(there["depth"][hit], here["depth"][hit], rtol=16 * 2.0**-23)
    np.testing.assert_allclose(there["linear"], here["linear"], atol=16 * 2.0**-23)


def test_path_traced_pictures_agree_within_their_statistics(left: Path) -> None:
    """Paths of the same random numbers go the same ways, until rounding turns a decision; a path that went another way
    is another sample of the same pixel."""
    renderer = Renderer(raystream.load("cornell"), program="path", **MACHINES[0])
    film = renderer.render(SIZE, spp=SAMPLES).film
    assert film is not None
    there = np.load(left / "path0.npz")
    assert np.array_equal(film.count, there["count"])
    differ = np.abs(there["mean"] - film.mean()).max(axis=-1)
    # Vulkan lets sine and cosine be off by 2^-11 ("Precision and Operation of SPIR-V Instructions"): directions, and
    # with them cosines and densities, shift by as much in each of up to five bounces.
    assert (differ < 5 * 2.0**-11 * (1 + film.mean().max(axis=-1))).mean() > 0.97
    error = np.sqrt(2 * film.variance().sum()) / film.count.size  # of the difference of two independent means
    luminance = np.array([0.2126, 0.7152, 0.0722])
    assert abs(float(((there["mean"] - film.mean()) @ luminance).mean())) < 4 * error


QUICK = "straight or compensation"  # of a part of the suite: a few seconds


@pytest.mark.parametrize("chosen", [QUICK, pytest.param("", marks=pytest.mark.slow)], ids=["quick", "all"])
def test_the_machines_pass_their_own_tests(second_driver: dict[str, str], chosen: str) -> None:
    """Among them compensated sums, and straight lines of kernels fused and apart."""
    file = Path(__file__).parent / "stream" / "test_machines.py"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(file), "-k", chosen]
    done = subprocess.run(command, env=second_driver, capture_output=True, text=True, cwd=file.parents[2])
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout
