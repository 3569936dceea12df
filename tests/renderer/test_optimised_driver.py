"""llvmpipe compiles without LLVM's optimisation in the tests (``conftest.py``), with it for users: bits are equal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream import Renderer

SIZE, SAMPLES = (24, 20), 2
RUNS = (
    ("path", "cornell", {"machine": "singlepass"}),
    ("path", "hall", {"fuse": "none"}),
    ("photon", "glass_ball", {"fuse": "ray", "photons": 2000}),
    ("whitted", "stadium", {"fuse": "surface"}),
)
SCRIPT = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[1])))
import test_optimised_driver

for number in range(len(test_optimised_driver.RUNS)):
    test_optimised_driver.np.save(Path(sys.argv[2]) / f"{number}.npy", test_optimised_driver.mean(number))
"""


def mean(number: int) -> np.ndarray:
    """(H, W, 3) float32: of the film of a run."""
    program, scene, choices = RUNS[number]
    film = Renderer(raystream.load(scene), program=program, **choices).render(SIZE, spp=SAMPLES).film
    assert film is not None
    return film.mean()


@pytest.fixture(scope="module")
def optimised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the means that a process of a user's makes."""
    folder = tmp_path_factory.mktemp("optimised")
    users = {name: value for name, value in os.environ.items() if name != "GALLIVM_PERF"}
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(folder)]
    done = subprocess.run(command, env=users, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("number", range(len(RUNS)), ids=[f"{scene}-{program}" for program, scene, _ in RUNS])
def test_bits_are_those_of_the_driver_as_users_have_it(optimised: Path, number: int) -> None:
    made = mean(number)
    assert made.max() > 0
    assert made.tobytes() == np.load(optimised / f"{number}.npy").tobytes()
