"""The assignment of units, with a client that answers as it is told: with real workers it takes luck to see."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import viewer
from viewer.farm import work, worker
from viewer.farm.build import Build, sources
from viewer.farm.work import Task, Work

Answer = tuple[str, Any]  # status of a future, and its result or error
DONE = ("finished", "made")
KINDS = {pkgutil.resolve_name: "code", worker.build: "build", worker.hold: "scene"}


class Reply:
    """A future that is done at once, or as `end` says."""

    def __init__(self, status: str, value: Any) -> None:
        self.status, self.value = status, value
        self.call: Callable[[Reply], None] | None = None

    def add_done_callback(self, call: Callable[[Reply], None]) -> None:
        self.call = call
        if self.status != "pending":
            call(self)

    def end(self, status: str, value: Any) -> None:
        self.status, self.value = status, value
        assert self.call is not None
        self.call(self)

    def result(self, timeout: float | None = None) -> Any:
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    def exception(self, timeout: float | None = None) -> Any:
        return self.value

    def cancel(self, force: bool = False) -> None:
        pass

    def release(self) -> None:
        pass


class Told:
    """A client. unit : (address, task's number) -> the answer of a unit. scattered : of the scene, in turn."""

    def __init__(self, *addresses: str, unit: Callable[[str, int], Answer], scattered: list[Any] | None = None) -> None:
        self.there, self.unit = dict.fromkeys(addresses, 1), unit
        self.scattered = scattered or []
        self.given: list[tuple[str, str]] = []  # (address, kind)
        self.futures: list[Reply] = []

    def nthreads(self) -> dict[str, int]:
        return dict(self.there)

    def submit(self, function: Any, *call: Any, workers: list[str], **_: Any) -> Reply:
        kind = KINDS.get(function, "unit")
        self.given.append((workers[0], kind))
        if kind == "unit":
            self.futures.append(Reply(*self.unit(workers[0], call[0])))
            return self.futures[-1]
        return Reply("finished", Build("1", sources(), "driver") if kind == "build" else None)

    def scatter(self, data: Any, hash: bool) -> Reply:
        found = self.scattered.pop(0) if self.scattered else "finished"
        if isinstance(found, BaseException):
            raise found
        return Reply(found, None)


def tasks(*costs: float) -> list[Task]:
    return [Task(k, f"unit {k}", worker.trace, (k,), cost) for k, cost in enumerate(costs)]


@pytest.fixture(scope="module")
def scene() -> viewer.Scene:
    return viewer.load("cornell")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LOOK", 0.01)


def test_a_worker_that_lost_the_scene_gets_it_again(scene: viewer.Scene) -> None:
    """It was started again at the same address: it has the program, but not the scene."""
    answers = [("error", worker.SceneMissing("digest")), DONE, DONE]
    client = Told("a", unit=lambda *_: answers.pop(0))
    made = Work(client)
    found = list(made.run(tasks(1, 1), made.hold(scene)))
    assert sorted(task.number for task, _ in found) == [0, 1]
    kinds = [kind for _, kind in client.given]
    assert kinds == ["code", "build", "scene", "unit", "unit", "scene", "unit"], "the second was given meanwhile"
    assert made.sent == 1 and made.lost == 0, "the cluster has it still"


def test_a_scene_that_the_cluster_has_lost_is_sent_again(scene: viewer.Scene) -> None:
    client = Told("a", "b", unit=lambda *_: DONE, scattered=["lost", "finished"])
    made = Work(client)
    assert len(list(made.run(tasks(1, 1, 1), made.hold(scene)))) == 3
    assert made.sent == 2


def test_a_worker_is_killed_while_the_scene_travels_to_it(scene: viewer.Scene) -> None:
    """Which is no silence of the scheduler: others get it."""
    client = Told("a", unit=lambda *_: DONE, scattered=[TimeoutError(), OSError("gone"), "finished"])
    made = Work(client)
    assert len(list(made.run(tasks(1), made.hold(scene)))) == 1 and made.sent == 1


def test_the_scheduler_goes_while_the_scene_travels(scene: viewer.Scene) -> None:
    client = Told("a", unit=lambda *_: DONE)
    made = Work(client)

    def scatter(data: Any, hash: bool) -> Reply:
        client.nthreads = lambda: (_ for _ in ()).throw(OSError("closed"))  # type: ignore[method-assign]
        raise TimeoutError

    client.scatter = scatter  # type: ignore[method-assign]
    with pytest.raises(viewer.ViewerError, match="scheduler does not answer"):
        list(made.run(tasks(1), made.hold(scene)))


def test_the_answer_of_a_lost_worker_is_not_taken(scene: viewer.Scene) -> None:
    """Its unit has another future by then: each unit is made once."""
    late: list[Reply] = []

    def unit(address: str, number: int) -> Answer:
        if address == "a" and not late:
            return "pending", None
        late.append(client.futures[0])
        if len(late) == 1:
            late[0].end("finished", "late")
        return DONE

    client = Told("a", unit=unit)
    notes: list[str] = []
    made = Work(client, notify=notes.append)
    running = made.run(tasks(1), made.hold(scene))

    def nthreads() -> dict[str, int]:
        if client.futures:
            client.there = {"b": 1}
        return dict(client.there)

    client.nthreads = nthreads  # type: ignore[method-assign]
    assert [(task.attempts, result) for task, result in running] == [(1, "made")]
    assert made.lost == 1 and notes == ["worker a has gone; its work is repeated"]


def test_the_answer_from_before_a_worker_came_back_is_not_taken(scene: viewer.Scene) -> None:
    """At the same address: what it works on by then is another future."""

    def unit(address: str, number: int) -> Answer:
        if not client.futures:
            return "pending", None
        client.futures[0].end("finished", "late")
        return DONE

    client = Told("a", unit=unit)
    made = Work(client)
    running = made.run(tasks(1), made.hold(scene))
    looks: list[dict[str, int]] = [{}]

    def nthreads() -> dict[str, int]:
        return looks.pop() if client.futures and looks else {"a": 1}

    client.nthreads = nthreads  # type: ignore[method-assign]
    assert [(task.attempts, result) for task, result in running] == [(1, "made")] and made.lost == 1


def test_patience_follows_the_slowest_rate(scene: viewer.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds by cost, the largest; a unit is given ten times what it predicts, a minute at least."""
    clock = [0.0]

    def monotonic() -> float:
        clock[0] += 0.02
        return clock[0]

    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=monotonic))
    durations = {0: 12.0, 1: 16.0}

    def unit(address: str, number: int) -> Answer:
        running.append(number)
        return "pending", None

    running: list[int] = []
    client = Told("a", unit=unit)
    made = Work(client)
    asked: list[tuple[float, float]] = []
    patience = made._patience

    def looked(busy: Any) -> float:
        found = patience(busy)
        if busy.task is not None:
            asked.append((busy.task.cost, found))
            clock[0] += durations[busy.task.number]
            client.futures[-1].end(*DONE)
            clock[0] += 1.0
        return found

    monkeypatch.setattr(made, "_patience", looked)
    units = tasks(1, 4)
    for _ in made.run(units, made.hold(scene)):
        clock[0] += 1.0
    assert running == [0, 1]
    assert made.seconds[0] >= 12.0 and made.seconds[1] >= 16.0
    assert asked[0] == (1, work.FIRST_PATIENCE), "nothing is known before the first"
    rate = made.seconds[0] / 1
    assert asked[1] == (4, pytest.approx(work.SLOW * rate * 4))
    assert patience(work._Busy("unit", Reply(*DONE), 0.0, Task(9, "", worker.trace, (), 0.01))) == work.LEAST_PATIENCE
    assert patience(work._Busy("unit", Reply(*DONE), 0.0, Task(9, "", worker.trace, (), 1.0))) == pytest.approx(
        work.SLOW * rate
    ), "the second was quicker for its cost, and changes nothing"


def test_a_cluster_may_be_empty_now_and_then(scene: viewer.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time for less than a minute: what counts is how long it has been since the last worker went."""
    clock, looks = [1.0], [{}, {"a": 1}, {}]
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    client = Told("a", unit=lambda *_: DONE)
    made = Work(client)

    def nthreads() -> dict[str, int]:
        clock[0] += 0.7 * work.ALONE
        return looks.pop(0) if looks else {"a": 1}

    client.nthreads = nthreads  # type: ignore[method-assign]
    assert len(list(made.run(tasks(1), made.hold(scene)))) == 1 and made.lost == 1
    looks += [{}, {}, {}, {"a": 1}]
    with pytest.raises(viewer.ViewerError, match="no worker for 60 seconds"):
        list(made.run(tasks(1), made.hold(scene)))
    assert looks == [{"a": 1}], "the third look is more than a minute after the first"
