"""The meaning of ``auto`` for the options of machines on a device: measured once for a driver build, and kept in the
user's cache.

None of these options changes a bit of a picture. Where nothing was measured the project's own figures decide.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from raystream.base.cache_folder import folders
from raystream.renderer.inputs.settings import Settings
from raystream.stream.gl.device import Device, shared_device

FORMAT = 3
MAX_FILE_BYTES = 1 << 20  # bytes
# Of each option the values, that of CPUs by default first; in the order of the trials. Buffers are meant where they are
# large enough.
CHOICES = {
    "fuse": ("surface", "ray"),
    "mask": ("depth", "kill"),
    "count": ("query", "census"),
    "tile": ("16", "8", "32"),
    "memory": ("buffer", "texture"),
}
NEEDS = {"tile": ("count", "census")}  # of an option that decides nothing else: another one, and its value
DEFAULTS = {name: words[0] for name, words in CHOICES.items()}
# On a GPU the pass of a whole path has more variables than registers, and lanes too few to hide the memory's latency.
GPU_DEFAULTS = DEFAULTS | {"fuse": "ray"}
TRIALS = sum(len(words) - 1 for words in CHOICES.values())
SECONDS = 0.5  # of all runs together, without compiling
GAIN = 0.95  # of the seconds of the value before: another one is chosen if it takes no longer
UNTIMED = 3  # runs before a trial's rounds: drivers compile in the first, and the sizes of draws are found
LEAST_ROUNDS, MOST_ROUNDS = 3, 1000  # of both sides of a trial, which take turns
# Seconds of a run, of which there are then no more than there must be.
SLOWEST = SECONDS / (2 * LEAST_ROUNDS * TRIALS + (UNTIMED - 1) * (TRIALS + 1))
HOPELESS = 2.0  # times as long as the value before: two rounds are enough

T = TypeVar("T")
Run = Callable[[], None]
Preparation = Generator[None, None, Run | str]  # in steps; a text says why there is no such run


class Trial(NamedTuple):
    """A value of an option, the seconds that it took, and those of the value that it was tried against."""

    option: str
    value: str
    seconds: float
    before: float


class Skipped(NamedTuple):
    """A value of an option that was not tried, empty for all of its values, and the reason."""

    option: str
    value: str
    reason: str


Outcome = Trial | Skipped


@dataclass(frozen=True)
class Measured:
    """Results of trials: the values by option, the day, ISO 8601, the trials and those left out, and why they
    failed, where they did."""

    chosen: Mapping[str, str]
    since: str = ""
    trials: tuple[Trial, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    note: str = ""


def tuning_path() -> Path:
    """The file of the results, beside the compiled loops."""
    return folders("loops")[-1] / "devices.json"


def load_tuning() -> dict[str, Measured]:
    """The results by driver build; those that cannot be read, or name unknown values, count as not measured."""
    try:
        with open(tuning_path(), "rb") as file:
            document = json.loads(file.read(MAX_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if (
        not isinstance(document, dict)
        or document.get("format") != FORMAT
        or not isinstance(document.get("drivers"), dict)
    ):
        return {}
    read = ((driver, _read(entry)) for driver, entry in document["drivers"].items())
    return {driver: entry for driver, entry in read if entry is not None}


def _read(entry: Any) -> Measured | None:
    if not isinstance(entry, dict) or not _valid(entry.get("auto")):
        return None
    since, note = entry.get("since"), entry.get("note")
    trials, skipped = _tuples(Trial, entry.get("trials")), _tuples(Skipped, entry.get("skipped"))
    if not isinstance(since, str) or not isinstance(note, str) or trials is None or skipped is None:
        return None
    if not all(
        _valid({trial.option: trial.value}) and _took(trial.seconds) and _took(trial.before) for trial in trials
    ):
        return None
    for option, value, reason in skipped:
        if option not in CHOICES or value not in ("", *CHOICES[option]) or not isinstance(reason, str):
            return None
    return Measured(entry["auto"], since, trials, skipped, note)


def _tuples(kind: Callable[..., T], rows: Any) -> tuple[T, ...] | None:
    """Rows of a file as tuples of a kind with a text first; None where they are none."""
    width = len(signature(kind).parameters)
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == width for row in rows):
        return None
    return tuple(kind(*row) for row in rows) if all(isinstance(row[0], str) for row in rows) else None


def _took(seconds: Any) -> bool:
    return isinstance(seconds, float) and 0 < seconds < math.inf


def _valid(chosen: Any) -> bool:
    return isinstance(chosen, dict) and all(
        isinstance(word, str) and word in CHOICES.get(name, ()) for name, word in chosen.items()
    )


def save_tuning(
    driver: str, chosen: Mapping[str, str], outcomes: Sequence[Outcome] = (), note: str = "", at_once: bool = True
) -> None:
    """Add a driver's results to the file, where it can be written. at_once : this process has them, too; else the next
    one."""
    since = datetime.date.today().isoformat()
    measured = tuple(outcome for outcome in outcomes if isinstance(outcome, Trial))
    skipped = tuple(outcome for outcome in outcomes if isinstance(outcome, Skipped))
    entries = load_tuning() | {driver: Measured(dict(chosen), since, measured, skipped, note)}
    drivers = {
        name: {
            "auto": entry.chosen,
            "since": entry.since,
            "trials": entry.trials,
            "skipped": entry.skipped,
            "note": entry.note,
        }
        for name, entry in entries.items()
    }
    text = json.dumps({"format": FORMAT, "drivers": drivers}, indent=1)
    if at_once:
        tuning.cache_clear()
    else:
        for software in (True, False):
            tuning(driver, software)
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
    """The values where nothing was measured. software : of `raystream.stream.compile.generate.Form`."""
    return DEFAULTS if software else GPU_DEFAULTS


@cache
def tuning(driver: str, software: bool) -> Mapping[str, str]:
    """The meaning of ``auto`` there, by option; read once in a process. software : as of `defaults`."""
    measured = load_tuning().get(driver)
    return defaults(software) | ({} if measured is None else dict(measured.chosen))


def tuned(settings: Settings, driver: str, software: bool) -> Settings:
    """The settings with the meaning of ``auto`` in its place, but for that of ``memory``, which the device has."""
    automatic = [name for name in CHOICES if name != "memory" and settings[name] == "auto"]
    values: dict[str, Any] = {name: tuning(driver, software)[name] for name in automatic}
    return settings.replace(**values) if values else settings


def in_buffers(settings: Settings, device: Device) -> bool:
    """Whether memories are to lie in buffer textures, as far as they can."""
    if settings.memory == "auto":
        return tuning(device.driver, device.software_form)["memory"] == "buffer"
    return bool(settings.memory == "buffer")


def tuned_device(settings: Settings) -> Device:
    """The process's headless device for the settings."""
    chosen = settings.device, settings.barrier == "auto"
    device = shared_device(*chosen, settings.memory != "texture", settings.limits)
    return device if in_buffers(settings, device) else shared_device(*chosen, False, settings.limits)


# -- trials ----------------------------------------------------------------------------------------------------------


@dataclass
class _Stopwatch:
    """Seconds of runs, after others' work on the device is done, and their sum."""

    clock: Callable[[], float]
    settle: Callable[[], None]
    spent: float = 0.0

    def timed(self, run: Run) -> float:
        self.settle()
        start = self.clock()
        run()
        seconds = self.clock() - start
        self.spent += seconds
        return seconds


def trials(
    prepare: Callable[[Mapping[str, str]], Preparation],
    clock: Callable[[], float],
    first: Mapping[str, str] = DEFAULTS,
    settle: Callable[[], None] = lambda: None,
    slowest: float = math.inf,
) -> Iterator[Outcome | None]:
    """Measure one option after the other, each with the best values of those before; None between two of its steps.

    prepare : makes a run by these values of all options, compiled; tells why where the device has no such way. first :
    the values before any trial. settle : waits until the device is idle. slowest : seconds of a run by the
    first values; nothing is tried where it takes longer.
    """
    watch, remaining = _Stopwatch(clock, settle), TRIALS
    best, (run, seconds) = dict(first), (yield from _ready(prepare(first), watch))
    if isinstance(run, str) or seconds > slowest:
        return
    for name, words in CHOICES.items():
        alternatives = [word for word in words if word != first[name]]
        needed, value = NEEDS.get(name, ("", ""))
        if needed and best[needed] != value:
            yield Skipped(name, "", f"of use to --{needed} {value} alone")
            remaining -= len(alternatives)
            continue
        for word in alternatives:
            end = watch.spent + (SECONDS - watch.spent) / remaining
            candidate, _ = yield from _ready(prepare({**best, name: word}), watch)
            if isinstance(candidate, str):
                yield Skipped(name, word, candidate)
            else:
                trial = Trial(name, word, *(yield from _compared(candidate, run, watch, end)))
                yield trial
                if _better(trial):
                    best, run = {**best, name: word}, candidate
            remaining -= 1


def chosen_by(outcomes: Iterable[Outcome | None], first: Mapping[str, str] = DEFAULTS) -> dict[str, str]:
    """The values that trials from the ``first`` ones lead to."""
    better = (trial for trial in outcomes if isinstance(trial, Trial) and _better(trial))
    return dict(first) | {trial.option: trial.value for trial in better}


def _better(trial: Trial) -> bool:
    return trial.seconds <= GAIN * trial.before


def _ready(preparation: Preparation, watch: _Stopwatch) -> Generator[None, None, tuple[Run | str, float]]:
    """A run, and the seconds that it takes once nothing is compiled any more."""
    run, seconds = (yield from preparation), 0.0
    if not isinstance(run, str):
        yield
        run()
        for _ in range(UNTIMED - 1):
            yield
            seconds = watch.timed(run)
    return run, seconds


def _compared(one: Run, other: Run, watch: _Stopwatch, end: float) -> Generator[None, None, tuple[float, float]]:
    """The least seconds of both, which take turns until ``end`` of the time of all trials, or one is far behind."""
    least, start = [math.inf, math.inf], watch.spent
    for rounds in range(1, MOST_ROUNDS):
        for side, run in enumerate((one, other)):
            least[side] = min(least[side], watch.timed(run))
            yield
        hopeless = rounds > 1 and least[0] > HOPELESS * least[1]
        if hopeless or (rounds >= LEAST_ROUNDS and watch.spent + (watch.spent - start) / rounds > end):
            break
    return least[0], least[1]
