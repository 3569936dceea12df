"""``raystream doctor``: a machine and its driver examined, as one file and one line for an issue."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.metadata import version
from queue import Empty, Queue
from time import perf_counter
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import DeviceError, ViewerError, ViewerWarning, printable
from raystream.base.interrupts import child_process
from raystream.base.start import SAFE_PATH, python_command
from raystream.base.version import __version__
from raystream.cli.report import json_value
from raystream.formats.named import load
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device, shared_device
from raystream.stream.selftest.check import ABSENT, DIFFERS, FAIL, PASS, Check, Finding, examine, in_one_line
from raystream.stream.selftest.facts import TIMES, capabilities
from raystream.stream.selftest.fallbacks import (
    GROUPS,
    apply_fallbacks,
    device_notes,
    fallbacks_for,
    record_result,
    stack_note,
)

Data = dict[str, Any]

# -- pictures: bits of small ones among machines, fusions, masks and memories; compile times; speed --------------------

SCENE, SIZE, SAMPLES = "cornell", (24, 20), 2
MASKS = ("depth", "stencil", "kill", "tiles", "none")
# By program: the variants whose bits are held to those of the single pass.
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "cast": {
        "fuse ray": {"fuse": "ray"},
        "fuse surface": {"fuse": "surface"},
        **{f"mask {mask}": {"fuse": "none", "mask": mask} for mask in MASKS},
        "census": {"fuse": "none", "count": "census"},
        "no barrier": {"fuse": "none", "barrier": "off"},
        "memory texture": {"machine": "singlepass", "memory": "texture"},
    },
    "path": {
        "fuse none": {"fuse": "none"},
        "fuse ray": {"fuse": "ray"},
        "fuse surface": {"fuse": "surface"},
        "memory texture": {"fuse": "surface", "memory": "texture"},
    },
    "photon": {"fuse surface": {"fuse": "surface"}},
}
PROGRAM_OPTIONS: dict[str, Data] = {"photon": {"photons": 4000}}
LAYERS = ("triangle", "depth")
PIXEL_TOLERANCE = 1e-4  # relative difference of a pixel, within which its bits alone differ
MAX_DIFFERING_SHARE = 0.02  # share of pixels whose paths may have gone another way, by rounding
MEAN, MEAN_SAMPLES, MEAN_TOLERANCE = 0.1009, 16, 0.1  # of the path traced picture, and how near it must be

# What is compiled: a name, and the settings.
COMPILED: dict[str, Data] = {
    "cast, singlepass": {"program": "cast", "machine": "singlepass"},
    "cast, fuse none": {"program": "cast", "fuse": "none"},
    "path, singlepass": {"program": "path", "machine": "singlepass"},
    "path, fuse surface": {"program": "path", "fuse": "surface"},
    "path, fuse none": {"program": "path", "fuse": "none"},
    "whitted, fuse surface": {"program": "whitted"},
    "photon, fuse surface": {"program": "photon"},
}
# Boxes, patches, a hall of columns, glass, a textured level.
SCENES = ("cornell", "teapotahedron", "stadium", "glass_ball", "palace")
PICTURE_SIDES = (
    32,
    64,
    128,
    256,
    512,
)  # of square pictures: the first that takes `MIN_RENDER_SECONDS` seconds, measured for `MEASURE_SECONDS`
MIN_RENDER_SECONDS, MEASURE_SECONDS = 0.1, 0.4


class DeviceUnderTest:
    """The device that is examined, by its number, and the pictures that others are held to."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self._reference: dict[str, dict[str, NDArray]] = {}

    @cached_property
    def device(self) -> Device:
        """Opened when it is first needed. Raises DeviceError."""
        return shared_device(self.index)

    def picture(self, program: str, **settings: Any) -> dict[str, NDArray]:
        """A program's picture of the small scene."""
        options = {**PROGRAM_OPTIONS.get(program, {}), **settings}
        renderer = Renderer(load(SCENE), program=program, device=self.index, **options)
        rendered = renderer.render(SIZE, spp=SAMPLES, layers=LAYERS if program == "cast" else ())
        renderer.release()
        return {"linear": rendered.linear, **rendered.layers}

    def reference(self, program: str) -> dict[str, NDArray]:
        """The program's picture by the single pass, rendered once."""
        if program not in self._reference:
            self._reference[program] = self.picture(program, machine="singlepass")
        return self._reference[program]


def same_bits(subject: DeviceUnderTest, program: str, variant: str) -> Finding:
    """Compare the picture of a variant of `VARIANTS` with that of the single pass."""
    reference, picture = subject.reference(program), subject.picture(program, **VARIANTS[program][variant])
    return compare_pictures(reference, picture)


def compare_pictures(reference: dict[str, NDArray], picture: dict[str, NDArray]) -> Finding:
    """Compare the layers, by name, of two pictures, (H, W) or (H, W, channels) each: bits, then linear colours within
    `PIXEL_TOLERANCE`."""
    if all(reference[name].tobytes() == picture[name].tobytes() for name in reference):
        return Finding(PASS)
    one, other = (layers["linear"].astype(np.float64) for layers in (reference, picture))
    if not np.isfinite(other).all():
        return Finding(FAIL, f"{int((~np.isfinite(other)).any(axis=-1).sum())} pixels are not finite")
    difference = np.abs(one - other).max(axis=-1)
    bits = (reference["linear"] != picture["linear"]).any(axis=-1)
    fraction = float((difference > PIXEL_TOLERANCE * (1.0 + np.abs(one).max(axis=-1))).mean())
    figures = {"pixels": int(bits.sum()), "largest": float(difference.max()), "share_apart": fraction}
    text = f"{int(bits.sum())} of {bits.size} pixels, by up to {difference.max():.2g}"
    return Finding(DIFFERS if fraction <= MAX_DIFFERING_SHARE else FAIL, text, figures)


def mean_picture(subject: DeviceUnderTest) -> Finding:
    """The mean of a path traced picture, as every driver should have it."""
    renderer = Renderer(load(SCENE), program="path", machine="singlepass", device=subject.index)
    mean = float(renderer.render(SIZE, spp=MEAN_SAMPLES).linear.mean(dtype=np.float64))
    renderer.release()
    if abs(mean / MEAN - 1.0) <= MEAN_TOLERANCE:  # false for a NaN, too
        return Finding(PASS, "", {"mean": mean})
    return Finding(FAIL, f"{mean:.4g}, not {MEAN:.4g}", {"mean": mean})


def compile_seconds(subject: DeviceUnderTest, name: str) -> dict[str, float]:
    """Seconds to compile the programs of a picture of the small scene, the driver's part of every pass included."""
    renderer = Renderer(load(SCENE), device=subject.index, **COMPILED[name])
    with renderer.device.current():
        renderer.device.wait()
    start_time, compiled = perf_counter(), renderer.device.compiled
    for _ in renderer.sampler.warm(renderer.settings, renderer.camera, (64, 64)):
        pass
    with renderer.device.current():
        renderer.device.wait()
    data = {"compile_seconds": perf_counter() - start_time, "programs": renderer.device.compiled - compiled}
    renderer.release()
    return data


def speed(subject: DeviceUnderTest, name: str) -> Data:
    """Primary rays and path samples a second, in millions, of a built-in scene."""
    scene = load(name)
    renderer = Renderer(scene, program="cast", device=subject.index)
    cast, edge = _rate(lambda edge: renderer.render((edge, edge)))
    renderer.update(program="path")
    path, path_edge = _rate(lambda edge: renderer.render((edge, edge), spp=1))
    renderer.release()
    return {
        "triangles": scene.triangle_count,
        "cast_mrays": cast / 1e6,
        "cast_size": edge,
        "path_msamples": path / 1e6,
        "path_size": path_edge,
    }


def _rate(render: Callable[[int], object]) -> tuple[float, int]:
    """Pixels a second, and the edge of the picture that it was measured by."""
    for edge in PICTURE_SIDES:
        render(edge)  # other sizes have other streams
        start_time = perf_counter()
        render(edge)
        if perf_counter() - start_time > MIN_RENDER_SECONDS:
            break
    times: list[float] = []
    start_time = perf_counter()
    while not times or perf_counter() - start_time < MEASURE_SECONDS:
        render_start = perf_counter()
        render(edge)
        times.append(perf_counter() - render_start)
    return edge * edge / float(np.median(times)), edge


# -- items, in order, and the child process that runs them: each gives plain data --------------------------------------

# Parts of the report that hold no checks.
DEVICE, FALLBACKS, MICROSECONDS, COMPILE, SPEED = "device", "fallbacks", "microseconds", "compile", "speed"
LINE_PREFIX = "raystream-doctor "  # begins its lines: drivers print to standard output, too
BEGUN, FOUND, NO_DEVICE = "begun", "found", "no device"
CHECKED_PARTS = (*GROUPS, "pictures")  # parts with checks


@dataclass(frozen=True)
class Item:
    """One thing to find out. cold : without the driver's caches of programs."""

    part: str
    name: str
    run: Callable[[DeviceUnderTest], Data]
    cold: bool = False

    @property
    def key(self) -> str:
        """``part: name``, unique among all items."""
        return f"{self.part}: {self.name}"


@cache
def items() -> dict[str, Item]:
    """All items of an examination, by their keys, in order."""
    return {item.key: item for item in _all_items()}


def _all_items() -> Iterator[Item]:
    yield Item(DEVICE, "capabilities", _capabilities)
    for group, checks in GROUPS.items():
        for check in checks:
            yield Item(group, check.name, partial(_checked, check))
    yield Item(FALLBACKS, "ways", _fallbacks)
    yield Item("pictures", "path, mean", _as_data(mean_picture))
    for program, variants in VARIANTS.items():
        for variant in variants:
            run = partial(same_bits, program=program, variant=variant)
            yield Item("pictures", f"{program}, {variant}", _as_data(run))
    for name, measure in TIMES.items():
        yield Item(MICROSECONDS, name, partial(_timed, measure), cold=measure is TIMES["small program"])
    for name in COMPILED:
        yield Item(COMPILE, name, partial(compile_seconds, name=name), cold=True)
    for name in SCENES:
        yield Item(SPEED, name, partial(speed, name=name))


def finding_data(finding: Finding) -> Data:
    """A finding as plain data."""
    return {"verdict": finding.verdict, "text": finding.text, "figures": dict(finding.figures)}


def _as_data(run: Callable[[DeviceUnderTest], Finding]) -> Callable[[DeviceUnderTest], Data]:
    return lambda subject: finding_data(run(subject))


def _capabilities(subject: DeviceUnderTest) -> Data:
    with subject.device.current():
        return capabilities(subject.device)


def _checked(check: Check, subject: DeviceUnderTest) -> Data:
    finding = examine(subject.device, check)
    if check.decides:
        record_result(subject.device, check.name, fails=finding.verdict == FAIL)
    return finding_data(finding)


def _fallbacks(subject: DeviceUnderTest) -> Data:
    """The lines that pictures would come with, for every mask and both machines."""
    device = subject.device
    apply_fallbacks(device)
    lines = [*device_notes(device), *stack_note(device)]
    for mask in MASKS:
        lines += fallbacks_for(device, "multipass", mask, "query").notes
    lines += fallbacks_for(device, "singlepass", "depth", "query").notes
    return {"lines": list(dict.fromkeys(lines))}


def _timed(measure: Callable[[Any], float], subject: DeviceUnderTest) -> Data:
    with subject.device.current():
        return {"microseconds": measure(subject.device)}


def run_items(argument: str) -> None:
    """Run the items by their keys: ``{"device": number or null, "items": [keys]}``."""
    request = json.loads(argument)
    warnings.simplefilter("ignore", ViewerWarning)
    subject, available = DeviceUnderTest(request["device"]), items()
    try:
        _ = subject.device
    except ViewerError as error:
        _write_message({NO_DEVICE: [error.where, error.what, error.hint]})
        return
    for key in request["items"]:
        _write_message({BEGUN: key})
        _write_message({FOUND: key, "data": run_item(subject, available[key])})


def run_item(subject: DeviceUnderTest, item: Item) -> Data:
    """An item's finding, with its seconds; of an exception verdict and text."""
    start_time = perf_counter()
    try:
        data = item.run(subject)
    except Exception as error:
        data = {"verdict": FAIL, "text": in_one_line(error)}
    return {**data, "seconds": round(perf_counter() - start_time, 4)}


def _write_message(line: Mapping[str, Any]) -> None:
    # In one call: a thread of a driver may print between two.
    sys.stdout.write(f"\n{LINE_PREFIX}{json.dumps(json_value(line), allow_nan=False)}\n")
    sys.stdout.flush()


# -- the parent process: has child processes run the items, and outlives their crashes ---------------------------------

START_SECONDS = 60.0  # after which a child is given up that has not yet opened its device
ITEM_SECONDS = 60.0  # after which an item is
MAX_DEATHS = 6  # of children one after another, each at its first item: nothing works then
MAX_LAST_WORDS = 200  # characters of a dead child's last words
CODE = "from raystream.cli.doctor import run_items; run_items(sys.argv[1])"
# Programs are compiled, not found: by Mesa, and by NVIDIA's driver.
WITHOUT_CACHES = {"MESA_SHADER_CACHE_DISABLE": "true", "MESA_GLSL_CACHE_DISABLE": "true", "__GL_SHADER_DISK_CACHE": "0"}

Progress = Callable[[float, str], None]


def examination(device: int | None, progress: Progress, keys: Sequence[str] | None = None) -> dict[str, Data]:
    """Every item's finding, by its key. A crash, or `ITEM_SECONDS` without an answer, are findings of an item: the
    others go on in another process.

    device : number of the EGL device. keys : of some items. Raises DeviceError without a device.
    """
    requested, findings = list(items() if keys is None else keys), dict[str, Data]()

    def begin(key: str) -> None:
        progress(len(findings) / len(requested), f"examining {key}")

    for cold in (False, True):
        pending = [key for key in requested if items()[key].cold == cold]
        deaths = 0
        while pending and deaths < MAX_DEATHS:
            finished = len(findings)
            _run_child(device, pending, WITHOUT_CACHES if cold else {}, begin, findings)
            deaths = deaths + 1 if len(findings) <= finished + 1 else 0
            pending = [key for key in pending if key not in findings]
        for key in pending:
            findings[key] = {"verdict": FAIL, "text": "not run: no process lives that long here"}
    return {key: findings[key] for key in requested}


def _run_child(
    device: int | None,
    keys: list[str],
    variables: Mapping[str, str],
    begin: Callable[[str], None],
    findings: dict[str, Data],
) -> None:
    """Run items in a process of their own until it ends, or one of them kills it; adds to the findings."""
    command = python_command(CODE, json.dumps({"device": device, "items": keys}))
    current = keys[0]  # the device is opened for the first
    with (
        tempfile.TemporaryFile() as stderr,
        child_process(
            command,
            env={**os.environ, **SAFE_PATH, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
        ) as process,
    ):
        for message in _messages(process):
            if message is None:
                findings[current] = {"verdict": FAIL, "text": f"no answer in {ITEM_SECONDS:.0f} s"}
                return
            if NO_DEVICE in message:
                raise DeviceError(*message[NO_DEVICE])
            if BEGUN in message:
                current = message[BEGUN]
                begin(current)
            if FOUND in message:
                findings[message[FOUND]] = message["data"]
                current = ""
        code = process.wait()
        if current:
            findings[current] = {"verdict": FAIL, "text": f"the process died: {_exit_reason(code)}{_last_line(stderr)}"}


def _messages(process: subprocess.Popen[bytes]) -> Iterator[Data | None]:
    """The child's own messages; None where the first takes longer than `START_SECONDS`, another than `ITEM_SECONDS`."""
    received: Queue[bytes | None] = Queue()

    def read() -> None:
        assert process.stdout is not None
        with suppress(OSError, ValueError):
            for line in process.stdout:
                received.put(line)
        received.put(None)

    threading.Thread(target=read, daemon=True).start()
    seconds = START_SECONDS
    while True:
        try:
            line = received.get(timeout=seconds)
        except Empty:
            yield None
            return
        if line is None:
            return
        text = line.decode(errors="replace")
        if text.startswith(LINE_PREFIX):
            seconds = ITEM_SECONDS
            with suppress(ValueError):  # cut by its death
                yield json.loads(text.removeprefix(LINE_PREFIX))


def _exit_reason(code: int) -> str:
    """An exit code in words: the name of the signal that ended the process, or the number."""
    if code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _last_line(stderr: IO[bytes]) -> str:
    """The last line of standard error."""
    stderr.seek(0)
    lines = stderr.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f" ({printable(last)[-MAX_LAST_WORDS:]})" if last else ""


# -- the report: as data for a file, as lines for a terminal, and as one line for an issue -----------------------------

FORMAT = 1  # of the file
MAX_LINE_TEXT = 80  # characters of a text in the one line
VERDICTS = {PASS: "pass", DIFFERS: "differ", ABSENT: "absent", FAIL: "fail"}  # of several checks
# Variables that choose or change a driver; no paths.
VARIABLES = (
    "RAYSTREAM_GL_DEVICE",
    "GALLIUM_DRIVER",
    "LIBGL_ALWAYS_SOFTWARE",
    "MESA_GL_VERSION_OVERRIDE",
    "MESA_GLSL_VERSION_OVERRIDE",
    "MESA_EXTENSION_OVERRIDE",
    "MESA_LOADER_DRIVER_OVERRIDE",
    "LP_NUM_THREADS",
    "ZINK_DEBUG",
    "DRI_PRIME",
    "__GLX_VENDOR_LIBRARY_NAME",
    "__NV_PRIME_RENDER_OFFLOAD",
)


def report_data(findings: Mapping[str, Data], seconds: float) -> Data:
    """The report as data. findings : by key, as of `examination`."""
    data_by_part: dict[str, dict[str, Data]] = {}
    for key, data in findings.items():
        part, _, name = key.partition(": ")
        data_by_part.setdefault(part, {})[name] = data
    checks = [
        {"part": part, "name": name, **data}
        for part in CHECKED_PARTS
        for name, data in data_by_part.get(part, {}).items()
    ]
    crashes = [
        {"part": part, "name": f"{part}: {name}", **data}
        for part, members in data_by_part.items()
        if part not in CHECKED_PARTS
        for name, data in members.items()
        if data.get("verdict") == FAIL
    ]
    report = {
        "format": FORMAT,
        "raystream": __version__,
        "machine": {
            "system": platform.system(),
            "release": platform.release(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "moderngl": version("moderngl"),
            "numpy": np.__version__,
            "platform": sys.platform,
        },
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        DEVICE: data_by_part.get(DEVICE, {}).get("capabilities", {}),
        "checks": [*checks, *crashes],
        FALLBACKS: data_by_part.get(FALLBACKS, {}).get("ways", {}).get("lines", []),
        MICROSECONDS: {name: data.get("microseconds") for name, data in data_by_part.get(MICROSECONDS, {}).items()},
        COMPILE: data_by_part.get(COMPILE, {}),
        SPEED: data_by_part.get(SPEED, {}),
        "seconds": round(seconds, 1),
    }
    return {"line": one_line(report), **report}


def verdicts(report: Data) -> Counter[str]:
    """How many checks have each verdict."""
    return Counter(check["verdict"] for check in report["checks"])


def one_line(report: Data) -> str:
    """The report in one line, to be pasted into an issue: names, verdicts, all that fails, and some figures."""
    device, machine, counts = report[DEVICE], report["machine"], verdicts(report)
    phrases = [
        f"raystream {report['raystream']}",
        f"{device.get('renderer', 'no answer')}, OpenGL {device.get('version', '?')}",
        f"{machine['system']} {machine['processor']}, {machine['cores']} cores",
        _verdict_counts(counts),
    ]
    failed = [check for check in report["checks"] if check["verdict"] == FAIL]
    if failed:
        phrases.append("fails " + ", ".join(f"{check['name']} ({check['text'][:MAX_LINE_TEXT]})" for check in failed))
    phrases += [line for line in report[FALLBACKS] if not failed]
    speeds = [
        f"{name} {data['cast_mrays']:.3g}/{data['path_msamples']:.3g}"
        for name, data in report[SPEED].items()
        if "cast_mrays" in data
    ]
    if speeds:
        phrases.append(f"Mrays/s cast, Msamples/s path: {', '.join(speeds)}")
    seconds = [f"{name} {data['compile_seconds']:.2g}" for name, data in report[COMPILE].items() if "programs" in data]
    if seconds:
        phrases.append(f"compile s: {', '.join(figure.replace(', ', ' ') for figure in seconds)}")
    return "; ".join(phrases)


def _verdict_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in VERDICTS.items() if counts[verdict])


def report_lines(report: Data, path: str) -> Iterator[str]:
    """The report for a terminal: counts by part, all that does not pass, times."""
    device, counts = report[DEVICE], verdicts(report)
    yield f"{device.get('renderer', 'the driver gives no answer')}, OpenGL {device.get('version', '?')}"
    absent = [name for name, supported in device.get("features", {}).items() if not supported]
    if absent:
        yield f"lacks      {', '.join(absent)}"
    yield f"self-tests {_verdict_counts(counts)}"
    for verdict in (FAIL, DIFFERS, ABSENT):
        for check in report["checks"]:
            if check["verdict"] == verdict:
                yield f"  {verdict:8} {check['name']}" + (f": {check['text']}" if check["text"] else "")
    yield from (f"  instead  {line}" for line in report[FALLBACKS])
    yield from _labelled_values(
        "microseconds", {k: v for k, v in report[MICROSECONDS].items() if v is not None}, "{:,.0f}"
    )
    compiled = {name: data["compile_seconds"] for name, data in report[COMPILE].items() if "programs" in data}
    yield from _labelled_values("seconds to compile", compiled, "{:.2f}")
    for name, data in report[SPEED].items():
        if "cast_mrays" in data:
            yield f"{name}: {data['cast_mrays']:.3g} Mrays/s cast, {data['path_msamples']:.3g} Msamples/s path traced"
    yield f"{report['seconds']:.0f} s; the whole report is in {path}; this line may go into an issue:"
    yield report["line"]


def _labelled_values(title: str, values: Mapping[str, float], form: str) -> Sequence[str]:
    return [f"{title}: {', '.join(f'{name} {form.format(value)}' for name, value in values.items())}"] if values else []
