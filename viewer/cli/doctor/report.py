"""The doctor's report: as data for a file, as lines for a terminal, and as one line for an issue."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from raystream.base.version import __version__
from raystream.cli.doctor.items import CHECKED, COMPILE, DEVICE, FALLBACKS, MICROSECONDS, SPEED
from raystream.stream.selftest.check import ABSENT, DIFFERS, FAIL, PASS

FORMAT = 1  # of the file
LONGEST = 80  # characters of a text in the one line
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
Data = dict[str, Any]
Found = Mapping[str, Data]


def made_report(findings: Found, seconds: float) -> Data:
    """The report as data. findings : by key, as of `raystream.cli.doctor.examination.examination`."""
    parts: dict[str, dict[str, Data]] = {}
    for key, data in findings.items():
        part, _, name = key.partition(": ")
        parts.setdefault(part, {})[name] = data
    checks = [{"part": part, "name": name, **data} for part in CHECKED for name, data in parts.get(part, {}).items()]
    lost = [
        {"part": part, "name": f"{part}: {name}", **data}
        for part, members in parts.items()
        if part not in CHECKED
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
        DEVICE: parts.get(DEVICE, {}).get("capabilities", {}),
        "checks": [*checks, *lost],
        FALLBACKS: parts.get(FALLBACKS, {}).get("ways", {}).get("lines", []),
        MICROSECONDS: {name: data.get("microseconds") for name, data in parts.get(MICROSECONDS, {}).items()},
        COMPILE: parts.get(COMPILE, {}),
        SPEED: parts.get(SPEED, {}),
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
        _counted(counts),
    ]
    failed = [check for check in report["checks"] if check["verdict"] == FAIL]
    if failed:
        phrases.append("fails " + ", ".join(f"{check['name']} ({check['text'][:LONGEST]})" for check in failed))
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


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in VERDICTS.items() if counts[verdict])


def lines(report: Data, path: str) -> Iterator[str]:
    """The report for a terminal: counts by part, all that does not pass, times."""
    device, counts = report[DEVICE], verdicts(report)
    yield f"{device.get('renderer', 'the driver gives no answer')}, OpenGL {device.get('version', '?')}"
    absent = [name for name, supported in device.get("features", {}).items() if not supported]
    if absent:
        yield f"lacks      {', '.join(absent)}"
    yield f"self-tests {_counted(counts)}"
    for verdict in (FAIL, DIFFERS, ABSENT):
        for check in report["checks"]:
            if check["verdict"] == verdict:
                yield f"  {verdict:8} {check['name']}" + (f": {check['text']}" if check["text"] else "")
    yield from (f"  instead  {line}" for line in report[FALLBACKS])
    yield from _table("microseconds", {k: v for k, v in report[MICROSECONDS].items() if v is not None}, "{:,.0f}")
    compiled = {name: data["compile_seconds"] for name, data in report[COMPILE].items() if "programs" in data}
    yield from _table("seconds to compile", compiled, "{:.2f}")
    for name, data in report[SPEED].items():
        if "cast_mrays" in data:
            yield f"{name}: {data['cast_mrays']:.3g} Mrays/s cast, {data['path_msamples']:.3g} Msamples/s path traced"
    yield f"{report['seconds']:.0f} s; the whole report is in {path}; this line may go into an issue:"
    yield report["line"]


def _table(title: str, values: Mapping[str, float], form: str) -> Sequence[str]:
    return [f"{title}: {', '.join(f'{name} {form.format(value)}' for name, value in values.items())}"] if values else []
