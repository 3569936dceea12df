"""A client that answers as it is told: with real workers it takes luck to see what goes wrong."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from typing import Any

from raystream.farm import worker
from raystream.farm.task_scheduler import Task, TaskScheduler, _Worker
from raystream.farm.units import Build, source_digest

Answer = tuple[str, Any]  # status of a future, and its result or error
DONE = ("finished", "made")
KINDS = {pkgutil.resolve_name: "code", worker.build: "build", worker.store_payload: "scene"}


class Reply:
    """A future that is done at once, or as `end` says."""

    def __init__(self, status: str, value: Any) -> None:
        self.status, self.value = status, value
        self.call: Callable[[Reply], None] | None = None
        self.cancelled: list[bool] = []  # with force, or without
        self.released = 0
        self.waited: list[float | None] = []  # for its result or its error

    def add_done_callback(self, call: Callable[[Reply], None]) -> None:
        self.call = call
        if self.status != "pending":
            call(self)

    def end(self, status: str, value: Any) -> None:
        self.status, self.value = status, value
        assert self.call is not None
        self.call(self)

    def result(self, timeout: float | None = None) -> Any:
        self.waited.append(timeout)
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    def exception(self, timeout: float | None = None) -> Any:
        self.waited.append(timeout)
        return self.value

    def cancel(self, force: bool = False) -> None:
        self.cancelled.append(force)

    def release(self) -> None:
        self.released += 1


class Told:
    """A client. unit : (address, task's number) -> the answer of a unit. scattered : of the scene, in turn. other :
    (address, kind) -> the answer of a preparation, or None for the usual one."""

    def __init__(
        self,
        *addresses: str,
        unit: Callable[[str, int], Answer],
        scattered: list[Any] | None = None,
        other: Callable[[str, str], Answer | None] = lambda address, kind: None,
    ) -> None:
        self.there, self.unit, self.other = dict.fromkeys(addresses, 1), unit, other
        self.scattered = scattered or []
        self.given: list[tuple[str, str]] = []  # (address, kind)
        self.calls: list[tuple[Any, ...]] = []  # (function, *arguments, options)
        self.futures: list[Reply] = []  # of units
        self.restarted: list[tuple[Any, ...]] = []

    def nthreads(self) -> dict[str, int]:
        return dict(self.there)

    def submit(self, function: Any, *call: Any, workers: list[str], **options: Any) -> Reply:
        kind = KINDS.get(function, "unit")
        self.given.append((workers[0], kind))
        self.calls.append((function, *call, {"workers": workers, **options}))
        if kind == "unit":
            self.futures.append(Reply(*self.unit(workers[0], call[0])))
            return self.futures[-1]
        usual = "finished", Build("1", source_digest(), "driver") if kind == "build" else None
        return Reply(*(self.other(workers[0], kind) or usual))

    def restart_workers(self, addresses: list[str], **options: Any) -> None:
        self.restarted.append((addresses, options))

    def scatter(self, data: Any, hash: bool) -> Reply:
        self.calls.append(("scatter", bytes(data), hash))
        found = self.scattered.pop(0) if self.scattered else "finished"
        if isinstance(found, BaseException):
            raise found
        return Reply(found, None)


def tasks(*costs: float) -> list[Task]:
    return [Task(k, f"unit {k}", worker.trace, (k,), cost) for k, cost in enumerate(costs)]


def ready(client: Told, **options: Any) -> TaskScheduler:
    """With workers that have all but a unit."""
    made = TaskScheduler(client, **options)
    for address in client.there:
        made.workers[address] = _Worker(code=True, build=Build("1", source_digest(), "driver"), scenes={"digest"})
    return made
