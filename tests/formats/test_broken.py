"""The collection of broken files behaves as its table says, also flattened, in bounded time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from documents import SHARED

from raystream.formats import load

# One process for all, held to 2 GiB more than an idle interpreter with its libraries maps.
WORKER = """
import json, resource, sys, tempfile, time
from pathlib import Path
import numpy, numba
from raystream.base.errors import ViewerError
from raystream.formats import load
# Machine code is made once on a machine, and kept: what that takes is no file's fault.
angles = numpy.linspace(0, 6, 5000)
with tempfile.TemporaryDirectory() as folder:
    star = Path(folder, "star.obj")
    lines = [f"v {a:f} {b:f} 0" for a, b in zip((2 + numpy.cos(9 * angles)) * numpy.cos(angles), numpy.sin(angles))]
    star.write_text("\\n".join([*lines, "f " + " ".join(map(str, range(1, 5001)))]))
    load(star).flatten()
mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + (2 << 30),) * 2)
for name in json.loads(sys.argv[2]):
    begin, stage, message = time.process_time(), "load", ""
    try:
        scene = load(Path(sys.argv[1]) / name)
        stage = "flatten"
        scene.flatten()
        stage = "done"
    except ViewerError as error:
        message = str(error)
    except BaseException as error:
        stage, message = "crash", repr(error)
    print(json.dumps([name, stage, message, time.process_time() - begin]), flush=True)
"""


def table(folder: Path) -> dict[str, dict[str, str]]:
    return json.loads((folder / "broken" / "expect.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def outcomes(shared_scenes) -> dict[str, tuple[str, str, float]]:
    if not Path("/proc/self/statm").exists():
        pytest.skip("memory limits need Linux")
    names = list(table(shared_scenes))
    command = [sys.executable, "-c", WORKER, str(shared_scenes / "broken"), json.dumps(names)]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=root, check=False)
    found = {}
    for line in done.stdout.splitlines():
        name, *rest = json.loads(line)
        found[name] = tuple(rest)
    assert done.returncode == 0, f"the process died after {list(found)[-1:]}: {done.stderr[-500:]}"
    return found


def pytest_generate_tests(metafunc):
    """One test per file where the collection is there; else one that skips."""
    if "broken" in metafunc.fixturenames:
        known = table(SHARED / "scenes") if (SHARED / "scenes" / "broken").is_dir() else {"the collection": {}}
        metafunc.parametrize("broken", known)


def test_broken_file(broken, shared_scenes, outcomes):
    expect = table(shared_scenes)[broken]["expect"]
    stage, message, seconds = outcomes[broken]
    assert stage != "crash", message
    assert "\n" not in message
    assert seconds < 10
    if expect == "load":
        assert stage == "done", message
    elif expect == "reject":
        assert stage == "load"
        assert broken in message


@pytest.mark.parametrize(
    ("name", "area"),
    [("obj_ok_ngon_concave.obj", 10.0), ("obj_ok_continuation.obj", 1.0), ("obj_ok_negative.obj", 1.0)],
)
def test_polygons_cover_their_area(name, area, shared_scenes):
    import numpy as np

    corners = load(shared_scenes / "broken" / name).flatten().corners()
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.linalg.norm(normals, axis=1).sum() / 2 == pytest.approx(area)
    assert (normals[:, 2] > 0).all()
