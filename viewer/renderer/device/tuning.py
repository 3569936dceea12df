"""The meaning of ``auto`` for the options of machines on a device: measured once for a driver build, and kept in the
user's cache.

None of these options changes a bit of a picture. Where nothing was measured the project's own figures decide.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from viewer.renderer.inputs.settings import Settings

FORMAT = 1
LARGEST_FILE = 1 << 20  # bytes
# Of each option the values, that of CPUs by default first; in the order of the trials. Buffers are meant where they are
# large enough.
CHOICES = {
    "fuse": ("surface", "ray"),
    "mask": ("depth", "kill"),
    "count": ("query", "census"),
    "memory": ("buffer", "texture"),
}
DEFAULTS = {name: words[0] for name, words in CHOICES.items()}
# On a GPU the pass of a whole path has more variables than registers, and lanes too few to hide the memory's latency.
GPU_DEFAULTS = DEFAULTS | {"fuse": "ray"}
SECONDS = 0.5  # of all trials together, without compiling
GAIN = 0.95  # of the seconds of the value before: another one is chosen if it takes no longer
LEAST_ROUNDS, MOST_ROUNDS = 3, 1000  # of both sides of a trial, which take turns

Run = Callable[[], None]


class Trial(NamedTuple):
    """A value of an option, the seconds that it took, and those of the value that it was tried against."""

    option: str
    value: str
    seconds: float
    before: float


def tuning_path() -> Path:
    """The file of the results, beside the compiled loops."""
    from viewer.base.jit_cache import folders

    return folders()[-1] / "devices.json"


def load_tuning() -> dict[str, dict[str, str]]:
    """The results by driver build; those that cannot be read, or name unknown values, count as not measured."""
    try:
        with open(tuning_path(), "rb") as file:
            found = json.loads(file.read(LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("drivers"), dict):
        return {}
    return {driver: chosen for driver, chosen in found["drivers"].items() if _valid(chosen)}


def _valid(chosen: Any) -> bool:
    return isinstance(chosen, dict) and all(
        isinstance(word, str) and word in CHOICES.get(name, ()) for name, word in chosen.items()
    )


def save_tuning(driver: str, chosen: Mapping[str, str]) -> None:
    """Add a driver's results to the file, where it can be written."""
    text = json.dumps({"format": FORMAT, "drivers": load_tuning() | {driver: dict(chosen)}}, indent=1)
    tuning.cache_clear()
    with suppress(OSError):
        path = tuning_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(temporary, path)  # atomic among processes
        except OSError:
            os.unlink(temporary)
            raise


def defaults(software: bool) -> dict[str, str]:
    """The values where nothing was measured. software : of `viewer.stream.compile.form.Form`."""
    return DEFAULTS if software else GPU_DEFAULTS


@cache
def tuning(driver: str, software: bool) -> Mapping[str, str]:
    """The meaning of ``auto`` there, by option; read once in a process. software : as of `defaults`."""
    return defaults(software) | load_tuning().get(driver, {})


def tuned(settings: Settings, driver: str, software: bool) -> Settings:
    """The settings with the meaning of ``auto`` in its place, but for that of ``memory``, which the device has."""
    left = [name for name in CHOICES if name != "memory" and settings[name] == "auto"]
    return settings.replace(**{name: tuning(driver, software)[name] for name in left}) if left else settings


def trials(
    prepare: Callable[[Mapping[str, str]], Run | None], clock: Callable[[], float], first: Mapping[str, str] = DEFAULTS
) -> Iterator[Trial]:
    """Measure one option after the other, each with the best values of those before.

    prepare : makes a run by these values of all options, compiled; None where the device has no such way. first : the
    values before any trial.
    """
    best, run = dict(first), prepare(first)
    share = SECONDS / sum(len(words) - 1 for words in CHOICES.values())
    for name, words in CHOICES.items():
        for word in words:
            if word == first[name]:
                continue
            other = prepare({**best, name: word})
            if other is None or run is None:
                continue
            seconds, before = _compared(other, run, share, clock)
            yield Trial(name, word, seconds, before)
            if seconds <= GAIN * before:
                best, run = {**best, name: word}, other


def chosen_by(found: Iterator[Trial], first: Mapping[str, str] = DEFAULTS) -> dict[str, str]:
    """The values that trials from the ``first`` ones lead to."""
    chosen = dict(first)
    for trial in found:
        if trial.seconds <= GAIN * trial.before:
            chosen[trial.option] = trial.value
    return chosen


def _compared(one: Run, other: Run, share: float, clock: Callable[[], float]) -> tuple[float, float]:
    """The least seconds of both, which take turns until their ``share`` is over."""
    least, began = [float("inf"), float("inf")], clock()
    for number in range(1, MOST_ROUNDS):
        for side, run in enumerate((one, other)):
            start = clock()
            run()
            least[side] = min(least[side], clock() - start)
        if number >= LEAST_ROUNDS and clock() - began >= share:
            break
    return least[0], least[1]
