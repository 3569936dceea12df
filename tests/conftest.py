"""Shared fixtures: the scene data (skipped with a clear word where absent) and one headless OpenGL context. The order
of the files, and what each leaves in memory."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests import golden

# Where this is set, as in continuous integration, a test that skips for want of one of these fails.
REQUIRED = bool(os.environ.get("RAYSTREAM_TEST_REQUIRE"))
REQUIREMENTS = ("scene data", "OpenGL 3.3", "Xvfb", "xdotool", "Embree", "glfw", "imgui-bundle", "imageio-ffmpeg")
REQUIREMENTS += ("rendercanvas", "distributed", "websockets", "uvicorn", "glslangValidator", "Mitsuba")

SHARED = Path(os.environ.get("RAYSTREAM_SHARED", Path(__file__).resolve().parents[2] / "shared"))

# llvmpipe leaves LLVM's optimisation out: programs run here for less time than it takes, compiling took two thirds of
# the suite's. Bits stay the same (renderer/test_optimised_driver.py). Set to nothing, the driver optimises.
os.environ.setdefault("GALLIVM_PERF", "nopt")

# Neither an example nor the making of examples has a deadline of its own: a busy machine takes any time for them.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# Files that take longest begin first, so that no process is left alone with one of them at the end; and before these
# those that take most memory, while a process has little.
LONGEST = (
    "blemishes/test_shown.py",
    "blemishes/test_rendered.py",
    "formats/test_levels_that_unfold.py",
    "reproduce/test_walk.py",
    "repro/test_texels_of_before.py",
    "accel/test_structures.py",
    "accel/test_bvh_build.py",
    "accel/test_grid_rays.py",
    "formats/test_gltf_malformed.py",
    "formats/test_gltf_posed_references.py",
    "viewport/test_no_waits.py",
    "renderer/test_trials.py",
    "window/test_screen_denoiser.py",
    "window/test_black_windows.py",
    "window/test_photons.py",
    "window/test_keys.py",
    "window/test_app.py",
    "window/test_pyrender_viewer.py",
    "test_tutorials.py",
    "repro/test_contexts_in_turns.py",
    "renderer/test_update.py",
    "photons/test_photon_map.py",
    "accel/test_two_level.py",
    "window/test_motion.py",
    "window/test_light.py",
    "programs/test_whitted.py",
    "accel/test_moving.py",
    "programs/test_many_lights.py",
    "stream/test_opengl33.py",
    "programs/test_path_trace.py",
    "programs/test_classic_scenes.py",
    "renderer/test_render.py",
    "renderer/test_ray_cast.py",
    "renderer/test_back_faces.py",
    "statistics/test_references.py",
    "photons/test_gather.py",
    "viewport/test_canvas_view.py",
    "repro/test_photons_on_show.py",
    "programs/test_layered_surfaces.py",
    "repro/test_loops_cut_by_the_driver.py",
)

STATUS = Path("/proc/self/status")  # of a process, on Linux
MEMORY, MOST_MEMORY = 1536, 4096  # MiB of a process beyond which that is told, and the run fails
GROWN = 64  # MiB that a process takes more than after it gave back what was free: it does so again
PEAK, VARYING, UNCOMPARED = "raystream_peak", "raystream_varying", "raystream_uncompared"  # left to the starter
kept = {"now": 0, "whole": 0}  # MiB of this process after it gave back what was free, and when it last looked at all
peaks: dict[str, tuple[int, str]] = {}  # by process: the most MiB that it has taken, and the file in which it did


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", choices=("check", "record", "again", "off"), default="check", help="see golden.py")


def pytest_configure(config: pytest.Config) -> None:
    chosen = config.getoption("--golden")
    if chosen == "record" and (config.getoption("keyword") or any("::" in name for name in config.args)):
        raise pytest.UsageError("--golden record takes whole files, whose values it replaces")
    if chosen == "record" and getattr(config.option, "dist", "no") not in ("no", "loadfile"):
        raise pytest.UsageError("--golden record needs a file's tests in one process: -n 0, or --dist loadfile")
    golden.configure(chosen)


@pytest.fixture(autouse=True)
def _golden(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the test meets is held to what it was; not with random examples, nor of slow tests, which few run."""
    random = hasattr(getattr(request.node, "obj", None), "hypothesis")
    if not random and request.node.get_closest_marker("slow") is None:
        golden.enter(request.node.nodeid)
    yield
    golden.leave()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, the others in their order."""
    here = Path(__file__).parent
    rank = {here / name: number for number, name in enumerate(LONGEST)}
    if gone := [str(path) for path in rank if not path.exists()]:
        raise pytest.UsageError(f"LONGEST names files that are not there: {', '.join(gone)}")
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end: garbage is looked for elsewhere."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _released(request: pytest.FixtureRequest) -> Iterator[None]:
    """Frees what a file leaves in memory and on the device, after the file's own fixtures have ended."""
    yield
    if STATUS.exists():
        most, process = _status("VmHWM"), os.environ.get("PYTEST_XDIST_WORKER", "the process")
        peaks[process] = max(peaks.get(process, (0, "")), (most, request.node.name), key=lambda peak: peak[0])
    _give_back()
    if kept["now"] > kept["whole"] + GROWN:
        gc.unfreeze()
        _give_back()
        kept["whole"] = kept["now"]
    gc.freeze()  # most of what is still there stays to the end, and to look through it again is what garbage costs


def pytest_runtest_logfinish() -> None:
    """Gives back what large scenes leave between two tests of a file; to look for it after each test took a third of
    the suite's time."""
    if STATUS.exists() and _status("VmRSS") > kept["now"] + GROWN:
        _give_back()


def _status(name: str) -> int:
    """MiB of this process, as Linux counts them."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) >> 10


def _give_back() -> None:
    """Frees what has been dropped, in memory and on the device, and returns it to the system."""
    gc.collect()
    module = sys.modules.get("raystream.stream.gl.device")
    for device in [*module._shared.values()] if module else ():
        if not device.ended:
            with device.current():
                pass  # frees what Python has dropped
    if sys.platform.startswith("linux"):
        getattr(ctypes.CDLL(None), "malloc_trim", bool)(0)  # glibc keeps pages that are free in between
    if STATUS.exists():
        kept["now"] = _status("VmRSS")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A process of xdist's ends, and tells what it has taken."""
    left = getattr(node, "workeroutput", {})
    peaks.update(left.get(PEAK, {}))
    golden.varying.update(left.get(VARYING, ()))
    golden.uncompared.update(left.get(UNCOMPARED, ()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run that took more memory than it may; a process of xdist's leaves that to the one that started it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[PEAK] = dict(peaks)
        output[VARYING] = sorted(golden.varying)
        output[UNCOMPARED] = sorted(golden.uncompared)
    golden.finish(first=output is None)
    if output is None and any(most > MOST_MEMORY for most, _ in peaks.values()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for process, (most, file) in sorted(peaks.items()):
        beyond = f", more than {MEMORY}" if most > MEMORY else ""
        terminalreporter.write_line(f"{process} took {most} MiB at most{beyond}, first in {file}")
    for driver in sorted(golden.uncompared):
        line = f"golden values were not compared: they are of {golden.DRIVER.read_text().strip()}, this is {driver}"
        terminalreporter.write_line(line)


def _refuse_skip(report: Any) -> Any:
    """The report of a test or of a file, failed where what it lacks is required."""
    if REQUIRED and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if any(word in reason for word in REQUIREMENTS):
            report.outcome, report.longrepr = "failed", f"required by RAYSTREAM_TEST_REQUIRE, but {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Any:
    return _refuse_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Any:
    return _refuse_skip((yield))


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"scene data not found: {folder} (set RAYSTREAM_SHARED to the folder that holds {name}/)")
    return folder


@pytest.fixture(scope="session")
def shared_scenes() -> Path:
    """The folder of common scenes: bunny.ply, dragon.ply, forest.glb, models/, broken/."""
    return _folder("scenes")


@pytest.fixture(scope="session")
def shared_refs() -> Path:
    """The folder of reference hits and pictures with standard errors."""
    return _folder("refs")


@pytest.fixture(scope="session")
def gltf_references() -> Path:
    """The folder of Khronos's models as Cycles renders them, from cameras that are told."""
    return _folder("gltf_refs")


@pytest.fixture(scope="session")
def flat_forest(shared_scenes: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """forest_flat.ply, as the script beside the scenes writes it (34 MB, a second; kept in pytest's cache)."""
    script = shared_scenes / "scripts" / "forest.py"
    if not script.is_file():
        pytest.skip(f"scene data not found: {script}")
    cache = getattr(request.config, "cache", None)  # none with -p no:cacheprovider
    folder = Path(cache.mkdir("raystream-forest")) if cache else tmp_path_factory.mktemp("forest")
    flat = folder / "forest_flat.ply"
    if not flat.is_file():  # made beside and renamed: another process of the tests may be making it, too
        made = tmp_path_factory.mktemp("forest-new")
        subprocess.run([sys.executable, "-B", script, made], check=True, capture_output=True, cwd=script.parent)
        shutil.copyfile(made / flat.name, folder / f"forest_flat.{os.getpid()}.part")
        os.replace(folder / f"forest_flat.{os.getpid()}.part", flat)
    return flat


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is written into the user's cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def device() -> Any:
    """The process's headless OpenGL device; tests skip where there is none."""
    from raystream.base.errors import DeviceError
    from raystream.stream.gl.device import shared_device

    try:
        return shared_device()
    except DeviceError as error:
        pytest.skip(f"no OpenGL 3.3 here: {error}")


@pytest.fixture(autouse=True)
def _opengl(request: pytest.FixtureRequest) -> Iterator[None]:
    """Makes the device's context current for the tests that ask for it, and fails those that leave an error behind."""
    if "device" in request.fixturenames:
        with request.getfixturevalue("device").current():
            yield
    else:
        yield
    module = sys.modules.get("raystream.stream.gl.device")  # tests of other floors need not import it
    left = [error for shared in (module._shared.values() if module else ()) for error in _errors(shared)]
    assert not left, f"the test left OpenGL errors behind: {', '.join(left)}"


@pytest.fixture(scope="session")
def second_driver(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that is to run on SwiftShader, by Mesa's zink; skips where `tools/test` could not
    fetch it, and Debian's chromium is not installed."""
    for folder in (Path(sys.prefix) / "raystream-swiftshader", Path("/usr/lib/chromium")):
        if (folder / "libvk_swiftshader.so").is_file() and (folder / "libvulkan.so.1").is_file():
            break
    else:
        pytest.skip("no second driver here: bash tools/test fetches SwiftShader where apt-get can")
    place = tmp_path_factory.mktemp("driver")  # chromium has other libraries beside these
    for name in ("libvk_swiftshader.so", "libvulkan.so.1", "vk_swiftshader_icd.json"):
        (place / name).symlink_to(folder / name)
    chosen = {
        "LD_LIBRARY_PATH": str(place),
        "VK_ICD_FILENAMES": str(place / "vk_swiftshader_icd.json"),
        "GALLIUM_DRIVER": "zink",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "MESA_GL_VERSION_OVERRIDE": "3.3",  # of which SwiftShader lacks a little that is not used here
        "MESA_GLSL_VERSION_OVERRIDE": "330",
    }
    environment = {**os.environ, **chosen}
    code = "from raystream.stream.gl.device import shared_device; print(shared_device().name)"
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    if "SwiftShader" not in found.stdout:
        pytest.skip(f"no second driver here: Mesa's zink gives {(found.stdout or found.stderr).strip()[-200:]}")
    return environment


def _errors(device: Any) -> list[str]:
    if "SwiftShader" in device.name:  # moderngl sets a divisor for every attribute, which is refused there
        return []
    found: list[str] = []
    with device.current():
        while (error := device.context.error) != "GL_NO_ERROR" and len(found) < 8:
            found.append(error)
    return found


@pytest.fixture(autouse=True)
def _strict_numpy():
    """NumPy raises on invalid arithmetic (0/0, inf - inf) in every test; code that means it says so with errstate."""
    with np.errstate(invalid="raise", divide="raise"):
        yield
