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
from pathlib import Path
from typing import Any, NamedTuple

from viewer.base.cache_folder import folders
from viewer.renderer.inputs.settings import Settings

FORMAT = 2
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
HOPELESS = 2.0  # times as long as the value before: two rounds are enough

Run = Callable[[], None]
Preparation = Generator[None, None, Run | None]  # in steps; None where the device has no such way


class Trial(NamedTuple):
    """A value of an option, the seconds that it took, and those of the value that it was tried against."""

    option: str
    value: str
    seconds: float
    before: float


@dataclass(frozen=True)
class Measured:
    """What trials have found: the values by option, the day, ISO 8601, the trials themselves, and why they failed,
    where they did."""

    chosen: Mapping[str, str]
    since: str = ""
    trials: tuple[Trial, ...] = ()
    note: str = ""


def tuning_path() -> Path:
    """The file of the results, beside the compiled loops."""
    return folders("loops")[-1] / "devices.json"


def load_tuning() -> dict[str, Measured]:
    """The results by driver build; those that cannot be read, or name unknown values, count as not measured."""
    try:
        with open(tuning_path(), "rb") as file:
            found = json.loads(file.read(LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("drivers"), dict):
        return {}
    read = ((driver, _read(entry)) for driver, entry in found["drivers"].items())
    return {driver: entry for driver, entry in read if entry is not None}


def _read(entry: Any) -> Measured | None:
    if not isinstance(entry, dict) or not _valid(entry.get("auto")):
        return None
    since, note, told = entry.get("since"), entry.get("note"), entry.get("trials")
    if not isinstance(since, str) or not isinstance(note, str) or not isinstance(told, list):
        return None
    trials = []
    for trial in told:
        if not isinstance(trial, list) or len(trial) != len(Trial._fields) or not _valid(dict([trial[:2]])):
            return None
        if not all(isinstance(seconds, float) and 0 < seconds < math.inf for seconds in trial[2:]):
            return None
        trials.append(Trial(*trial))
    return Measured(entry["auto"], since, tuple(trials), note)


def _valid(chosen: Any) -> bool:
    return isinstance(chosen, dict) and all(
        isinstance(word, str) and word in CHOICES.get(name, ()) for name, word in chosen.items()
    )


def save_tuning(
    driver: str, chosen: Mapping[str, str], trials: Sequence[Trial] = (), note: str = "", at_once: bool = True
) -> None:
    """Add a driver's results to the file, where it can be written. at_once : this process has them, too; else the next
    one."""
    since = datetime.date.today().isoformat()
    kept = load_tuning() | {driver: Measured(dict(chosen), since, tuple(trials), note)}
    drivers = {
        name: {"auto": each.chosen, "since": each.since, "trials": each.trials, "note": each.note}
        for name, each in kept.items()
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
    """The values where nothing was measured. software : of `viewer.stream.compile.form.Form`."""
    return DEFAULTS if software else GPU_DEFAULTS


@cache
def tuning(driver: str, software: bool) -> Mapping[str, str]:
    """The meaning of ``auto`` there, by option; read once in a process. software : as of `defaults`."""
    found = load_tuning().get(driver)
    return defaults(software) | ({} if found is None else dict(found.chosen))


def tuned(settings: Settings, driver: str, software: bool) -> Settings:
    """The settings with the meaning of ``auto`` in its place, but for that of ``memory``, which the device has."""
    left = [name for name in CHOICES if name != "memory" and settings[name] == "auto"]
    return settings.replace(**{name: tuning(driver, software)[name] for name in left}) if left else settings


def trials(
    prepare: Callable[[Mapping[str, str]], Preparation],
    clock: Callable[[], float],
    first: Mapping[str, str] = DEFAULTS,
    settle: Callable[[], None] = lambda: None,
) -> Iterator[Trial | None]:
    """Measure one option after the other, each with the best values of those before; None between two of its steps.

    prepare : makes a run by these values of all options, compiled; gives None where the device has no such way. first :
    the values before any trial. settle : waits for what others do on the device.
    """
    best, run = dict(first), (yield from prepare(first))
    if run is None:
        return
    share = SECONDS / sum(len(words) - 1 for words in CHOICES.values())
    for name, words in CHOICES.items():
        for word in words:
            if word == first[name]:
                continue
            other = yield from prepare({**best, name: word})
            if other is None:
                continue
            trial = Trial(name, word, *(yield from _compared(other, run, share, clock, settle)))
            yield trial
            if _better(trial):
                best, run = {**best, name: word}, other


def chosen_by(found: Iterable[Trial | None], first: Mapping[str, str] = DEFAULTS) -> dict[str, str]:
    """The values that trials from the ``first`` ones lead to."""
    better = (trial for trial in found if trial is not None and _better(trial))
    return dict(first) | {trial.option: trial.value for trial in better}


def _better(trial: Trial) -> bool:
    return trial.seconds <= GAIN * trial.before


def _compared(
    one: Run, other: Run, share: float, clock: Callable[[], float], settle: Callable[[], None]
) -> Generator[None, None, tuple[float, float]]:
    """The least seconds of both, which take turns until their ``share`` is over, or one is far behind."""
    least, spent = [math.inf, math.inf], 0.0
    for number in range(1, MOST_ROUNDS):
        for side, run in enumerate((one, other)):
            settle()
            start = clock()
            run()
            seconds = clock() - start
            spent += seconds
            least[side] = min(least[side], seconds)
            yield
        hopeless = number > 1 and least[0] > HOPELESS * least[1]
        if hopeless or (number >= LEAST_ROUNDS and spent >= share):
            break
    return least[0], least[1]
