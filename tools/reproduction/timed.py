"""Seconds of what a section times: cases in turns, each several times, by the clock and by the CPUs.

Every timed number of the report comes from `keep`. One round first that does not count, as it compiles and builds;
then rounds of all cases, so that a drift of the machine comes to all alike. Shown are the median, the least and the
greatest.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from raystream.renderer.renderer import Renderer

from .machine_load import QUIET, Quiet, load_average
from .report import OWN, Check

if TYPE_CHECKING:
    from .context import Context

RUNS = 5
ALIKE = 0.15  # of the median of the same work, timed twice in turns
Case = Callable[..., Mapping[str, float] | None]  # called without arguments
Cases = AbstractContextManager[Mapping[str, Case]]


class Releasable(Protocol):
    """A renderer, or what else holds memory of a device."""

    def release(self) -> None:
        """Give it back."""


Held = TypeVar("Held", bound=Releasable)


class Releasing(ExitStack):
    """Releases at its end, or where an error ends it, what it was given, the last first."""

    def own(self, made: Held) -> Held:
        """``made``, which is released in the end."""
        self.callback(made.release)
        return made


@contextmanager
def pictures(renderers: Mapping[str, Renderer], size: tuple[int, int]) -> Iterator[dict[str, Case]]:
    """Renderers that each render a picture of one sample again and again, released in the end."""
    with Releasing() as held:
        yield {name: partial(drawn, held.own(renderer), size) for name, renderer in renderers.items()}


def drawn(renderer: Renderer, size: tuple[int, int]) -> None:
    """A picture of one sample."""
    renderer.render(size, spp=1)


@dataclass(frozen=True)
class Spread:
    """A figure of several runs."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """Of the runs."""
        return statistics.median(self.values)

    def slower(self, other: Spread) -> bool | None:
        """Whether every run took longer than every one of another figure; None where runs of both overlap."""
        if min(self.values) > max(other.values):
            return True
        return False if max(self.values) < min(other.values) else None

    def of(self, function: Callable[[float], float]) -> Spread:
        """Another figure, a function of this one in every run."""
        return Spread(tuple(function(each) for each in self.values))

    def milliseconds(self) -> str:
        """As `text`, of seconds."""
        return self.of(lambda seconds: 1e3 * seconds).text()

    def text(self, digits: int = 3) -> str:
        """Median, and in brackets the least and the greatest: ``1.97 (1.95 to 2.1)``."""
        median, least, most = (_short(each, digits) for each in (self.median, min(self.values), max(self.values)))
        return median if least == most else f"{median} ({least} to {most})"


def _short(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if "e" in text and abs(value) >= 1 else text


@dataclass(frozen=True)
class Timed:
    """A case: seconds of its runs by the clock, and of all threads of the process by the CPUs; ``parts`` are the
    figures that it gave itself."""

    wall: Spread
    cpu: Spread
    parts: Mapping[str, Spread]

    @property
    def median(self) -> float:
        """Seconds by the clock."""
        return self.wall.median


def keep(
    context: Context, key: Sequence[Any], cases: Callable[..., Cases], runs: int = RUNS, warm_up: bool = True
) -> dict[str, Timed]:
    """Each case of a context manager timed by ``runs`` rounds, one with ``--quick``; kept under the key and the runs.

    cases : called without arguments. A case gives figures of its own, seconds of its stages or counts, or nothing.
    warm_up : a round before that does not count.
    """
    runs = 1 if context.quick else runs

    def make() -> dict[str, Any]:
        with cases() as named:
            return measured(named, runs, warm_up, context.load_at_start)

    found = context.keep(("timed", *key, runs), make, timing=True)
    made = {}
    for name, each in found["cases"].items():
        parts = {part: Spread(tuple(values)) for part, values in each["parts"].items()}
        made[name] = Timed(Spread(tuple(each["wall"])), Spread(tuple(each["cpu"])), parts)
    own = [each.cpu.median / max(each.wall.median, 1e-9) for each in made.values()]
    context.quiet.append(Quiet(runs, found["start"], tuple(found["load"]), found["others"], (min(own), max(own))))
    return made


def measured(cases: Mapping[str, Case], runs: int, warm_up: bool = True, start: float = 0.0) -> dict[str, Any]:
    """``cases``: by name seconds by the clock, by the CPUs, and figures by name, of every run; and `Quiet`'s fields."""
    found: dict[str, dict[str, Any]] = {name: {"wall": [], "cpu": [], "parts": {}} for name in cases}
    if warm_up:
        for case in cases.values():
            case()
    load, busy, own, clock = load_average(), _busy(), time.process_time(), time.perf_counter()
    for _ in range(runs):
        for name, case in cases.items():
            wall, cpu = time.perf_counter(), time.process_time()
            parts = case()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            each = found[name]
            each["wall"].append(_rounded(wall))
            each["cpu"].append(_rounded(cpu))
            for part, value in (parts or {}).items():
                each["parts"].setdefault(part, []).append(_rounded(value))
    after, others = _busy(), None
    if busy is not None and after is not None:
        whole = (time.perf_counter() - clock) * (os.cpu_count() or 1)
        others = round(min(1.0, max(0.0, after - busy - (time.process_time() - own)) / max(whole, 1e-9)), 2)
    return {"cases": found, "start": start, "load": [load, load_average()], "others": others}


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def _busy() -> float | None:
    """Seconds that all CPUs of the machine have worked, for this process and others."""
    try:
        numbers = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        ticks = os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None
    return (sum(numbers) - sum(numbers[3:5])) / ticks  # less idle, and waiting for a disk


def alike(what: str, one: Spread, two: Spread) -> Check:
    """Whether the same work, timed twice in turns, took the same time; of a single run nobody can tell."""
    medians = sorted((one.median, two.median))
    ratio = medians[1] / max(medians[0], 1e-9)
    if len(one.values) < 2:
        return Check(OWN, what, "1", f"{ratio:.2f} apart", None, "of a single run")
    why = "the machine was disturbed, and the seconds beside say little"
    return Check(OWN, what, "1", f"{ratio:.2f} apart", ratio <= 1 + ALIKE, why, f"to {ALIKE:.0%} of the medians")


def said(quiet: Iterable[Quiet]) -> str:
    """How the timed numbers of a section, or of the report, were made; empty without any."""
    each = list(quiet)
    if not each:
        return ""
    few, many = min(one.runs for one in each), max(one.runs for one in each)
    runs = ("one run" if many == 1 else f"{many} runs") if few == many else f"{few} to {many} runs"
    start, end = max(one.start for one in each), max(max(one.load) for one in each)
    others = [one.others for one in each if one.others is not None]
    text = f"{runs} in turns behind one that does not count: median (least to greatest); load average {start:g} at the"
    text += f" start, {end:g} at most with the runs themselves"
    least, most = min(one.own[0] for one in each), max(one.own[1] for one in each)
    text += f"; the runs had {least:.1f} to {most:.1f} CPUs (CPU seconds over seconds by the clock)"
    if others:
        text += f", other processes {max(others):.0%} of all at most"
    if start > QUIET:
        text += f". The machine was not quiet: a load average over {QUIET:g} at the start"
    return text
