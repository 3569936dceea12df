"""Assembles and compiles programs, and where it is installed validates each with glslangValidator."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from raystream.base import paths
from raystream.base.errors import ShaderError
from raystream.cli.shader_check.passes import Parts, jobs, jobs_of
from raystream.photons.grid import OUTPUTS
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import EXACT, WITHOUT_PRECISE, Device, shared_device
from raystream.stream.selftest.fallbacks import trust

VALIDATOR = "glslangValidator"
_EXTENSION = re.compile(r"^#extension (\w+) : require$", re.MULTILINE)


def check_shaders(
    report: Callable[[str], None] = print,
    device: Device | None = None,
    program: str | None = None,
    progress: Callable[[float | None, str], None] | None = None,
) -> int:
    """Check all shaders, or those of one ``program`` of pictures; returns the number of failures.

    report : gets a line for each program, and one for each file that is in none. progress : called with the share that
    is done and a text.
    """
    device = device or shared_device()
    trust(device)
    with device.current():
        all_jobs = jobs(device) if program is None else jobs_of(program, device)
        check = _Check(device, report)
        for index, job in enumerate(all_jobs):
            for name, parts in job:
                if progress is not None:
                    progress(index / len(all_jobs), f"shader {check.checked + 1}, {name}")
                check.take(name, parts)
    return check.end(whole=program is None)


class _Check:
    """Programs that are checked one after the other, each once."""

    def __init__(self, device: Device, report: Callable[[str], None]) -> None:
        self.device, self.report, self._validator = device, report, shutil.which(VALIDATOR)
        self.checked = self.failures = self.left_out = 0
        self._seen: set[tuple[str, ...]] = set()
        self._validated: set[str] = set()
        self._files: set[str] = set()

    def take(self, name: str, parts: Parts) -> None:
        """Check a program, if it has not been."""
        texts = tuple(source.text for source in parts.values())
        if texts in self._seen:
            return
        self._seen.add(texts)
        self.checked += 1
        self._files.update(*(source.files for source in parts.values()))
        if missing := _missing(self.device, parts):
            self.left_out += 1
            self.report(f"{name}: left out, needs {missing}, which this driver has not")
            return
        try:
            _compile(self.device, parts)
            for stage, source in parts.items() if self._validator else ():
                if source.text not in self._validated:
                    self._validated.add(source.text)
                    _validate(str(self._validator), stage, source)
        except ShaderError as error:
            self.failures += 1
            self.report(f"{name}: {error}")
            for line in error.log.splitlines():
                self.report(f"    {line}")
        else:
            self.report(f"{name}: ok, {sum(len(source.lines) for source in parts.values())} lines")

    def end(self, whole: bool) -> int:
        """Report the sum, and for a ``whole`` check the files that are in no program; the number of failures."""
        files = (str(file.relative_to(paths.shaders())) for file in Path(paths.shaders()).rglob("*.glsl"))
        for file in sorted(set(files) - self._files) if whole else ():
            self.report(f"{file}: in no program")
        how = f"compiled by {self.device.name}"
        absent = f" ({VALIDATOR} is not installed, so not validated by it)"
        how += f" and validated by {VALIDATOR}" if self._validator else absent
        left_out = f", {self.left_out} left out" if self.left_out else ""
        self.report(f"{self.checked - self.left_out} programs {how}, {self.failures} failed{left_out}")
        return self.failures


def _missing(device: Device, parts: Parts) -> str:
    """The first extension that a program requires and the driver has not; machines then go another way."""
    required = (name for source in parts.values() for name in _EXTENSION.findall(source.text))
    return next((name for name in required if name not in device.extensions), "")


def _compile(device: Device, parts: Parts) -> None:
    """Raises ShaderError with the driver's log."""
    if "geom" in parts:
        device.feedback_program(parts["vert"], parts["geom"], OUTPUTS).release()
    else:
        device.program(parts["vert"], parts["frag"]).release()


def _validate(validator: str, stage: str, source: Source) -> None:
    """Raises ShaderError with the validator's log. stage : vert, geom or frag."""
    if EXACT in source.files:  # it has GL_ARB_gpu_shader5, but no `precise` before GLSL 4.00
        source = source.defining(WITHOUT_PRECISE)
    done = subprocess.run(
        [validator, "--stdin", "-S", stage], input=source.text, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        log = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("stdin"))
        raise source.error(VALIDATOR, log)
