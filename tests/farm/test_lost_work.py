"""What a farm does about workers that are lost, hang, differ or fail, with a client that answers as it is told."""

from __future__ import annotations

from asyncio import CancelledError
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

import raystream
from raystream.farm import task_scheduler, worker
from raystream.farm.task_scheduler import Task, TaskScheduler
from raystream.farm.units import Build, source_digest
from tests.farm.told import DONE, Answer, Reply, Told, ready, tasks


@pytest.fixture(scope="module")
def scene() -> raystream.Scene:
    return raystream.load("cornell")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_scheduler, "CHECK_INTERVAL", 0.01)


class Clock:
    """Seconds that pass as they are told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(task_scheduler, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_looks_at_the_workers(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice a second, whatever happens; new ones are taken, and those that went are counted."""
    monkeypatch.setattr(task_scheduler, "CHECK_INTERVAL", 0.5)
    client = Told("a", unit=lambda *_: DONE)
    notes: list[str] = []
    made = TaskScheduler(client, notify=notes.append)
    looks: list[float] = []
    there = client.nthreads

    def nthreads() -> dict[str, int]:
        looks.append(clock.now)
        return there()

    client.nthreads = nthreads  # type: ignore[method-assign]
    waiting: deque[Task] = deque()
    step = task_scheduler.CHECK_INTERVAL
    for after in (0.0, 0.5 * step, 0.99 * step, step, 1.5 * step, 2.25 * step):
        clock.now = 100.0 + after
        made._check_workers(waiting)
    assert looks == [100.0, 100.0 + step, 100.0 + 2.25 * step]
    first = made.workers["a"]
    client.there = {"b": 1, "a": 1}
    clock.now += step
    made._check_workers(waiting)
    assert made.workers.keys() == {"a", "b"} and made.workers["a"] is first and (made.lost, notes) == (0, [])
    client.there = {"b": 1}
    clock.now += step
    made._check_workers(waiting)
    assert made.workers.keys() == {"b"} and made.lost == 1 and not waiting
    assert notes == ["worker a has gone; its work is repeated"]


@pytest.mark.parametrize(
    ("rate", "cost", "patience"),
    [(0.0, 1.0, 1800.0), (0.0, 1e6, 1800.0), (2.0, 1.0, 60.0), (2.0, 3.0, 60.0), (2.0, 3.25, 65.0), (2.0, 100.0, 2e3)],
)
def test_how_long_a_unit_may_take(clock: Clock, rate: float, cost: float, patience: float) -> None:
    """Half an hour before anything is known; then ten times what it should, at least a minute. A worker that takes
    longer is ended, and its unit is the next one to be given."""
    client = Told("a", "b", unit=lambda *_: ("pending", None))
    notes: list[str] = []
    made = ready(client, notify=notes.append)
    made._rate = rate
    one, other = Task(0, "one", worker.trace, (0,), cost), Task(1, "other", worker.trace, (1,), cost)
    waiting = deque([one, other])
    made._assign("a", made.workers["a"], "digest", waiting)
    assert list(waiting) == [other] and made.workers["a"].job is not None
    assert made._timeout(made.workers["a"].job) == patience
    clock.now += patience
    made._check_workers(waiting)
    assert made.workers.keys() == {"a", "b"} and not client.restarted
    clock.now += 1.0
    made._check_workers(waiting)
    assert made.workers.keys() == {"b"} and list(waiting) == [one, other] and (one.attempts, other.attempts) == (1, 0)
    assert client.restarted == [(["a"], {"timeout": 10, "raise_for_error": False})]
    assert client.futures[0].cancelled == [True] and made.lost == 1
    assert notes == ["worker a does not answer; its work is repeated"]


def test_a_preparation_may_take_its_time(clock: Clock) -> None:
    """Whatever units take; then there is nothing to repeat. A worker without a nanny, or of a user's own, stays."""
    client = Told("a", unit=lambda *_: DONE, other=lambda *_: ("pending", None))
    client.restart_workers = lambda *given, **more: 1 / 0  # type: ignore[method-assign,assignment]
    made = TaskScheduler(client)
    made._rate = 2.0
    made.workers["a"] = each = task_scheduler._Worker()
    waiting: deque[Task] = deque()
    made._assign("a", each, "digest", waiting)
    assert each.job is not None and (each.job.kind, each.job.start_time, each.job.task) == ("code", 100.0, None)
    clock.now += task_scheduler.FIRST_TIMEOUT
    made._check_workers(waiting)
    assert "a" in made.workers
    clock.now += 1.0
    made._check_workers(waiting)
    assert not made.workers and made.lost == 1 and not waiting


def test_least_patience_is_of_the_one_who_asks(clock: Clock) -> None:
    made = TaskScheduler(Told(unit=lambda *_: DONE), wait_timeout=7.0)
    made._rate = 1.0
    assert made._timeout(task_scheduler._Job("unit", Reply(*DONE), 0.0, Task(0, "", worker.trace, (), 0.5))) == 7.0
    assert made._timeout(task_scheduler._Job("unit", Reply(*DONE), 0.0, Task(0, "", worker.trace, (), 0.75))) == 7.5
    assert made._timeout(task_scheduler._Job("scene", Reply(*DONE), 0.0)) == 1800.0


def test_a_unit_that_no_worker_outlives() -> None:
    """After twenty times it is told, with the last worker; until then it is the next one to be given."""
    made = TaskScheduler(Told(unit=lambda *_: DONE))
    first, other = tasks(1, 1)
    waiting = deque([other])
    for attempt in range(1, task_scheduler.MAX_ATTEMPTS):
        made._retry(first, waiting, f"w{attempt}", "has gone")
        assert first.attempts == attempt and waiting.popleft() is first and list(waiting) == [other]
    with pytest.raises(raystream.ViewerError) as caught:
        made._retry(first, waiting, "w20", "does not answer")
    what = "unit 0: was begun 20 times; the last worker, w20, does not answer"
    assert caught.value.typed == f"--cluster: {what} (look at what the worker printed)"
    made._retry(None, waiting, "a", "has gone")
    assert list(waiting) == [other] and other.attempts == 0 and task_scheduler.MAX_ATTEMPTS == 20


def killed() -> Exception:
    from distributed import KilledWorker

    return KilledWorker("unit", SimpleNamespace(address="a"), 3)


@pytest.mark.parametrize(
    "answer",
    [
        ("lost", None),
        ("cancelled", None),
        ("error", None),
        ("error", OSError("gone")),
        ("error", TimeoutError()),
        ("error", CancelledError()),
        ("error", worker.SceneLost("digest")),
        ("error", "killed"),
        ("finished", OSError("gone")),
        ("finished", CancelledError()),
    ],
)
def test_units_that_are_lost_with_their_worker(scene: raystream.Scene, answer: Answer) -> None:
    """They are made by the next one."""
    answers = [(answer[0], killed() if answer[1] == "killed" else answer[1]), DONE, DONE]
    client = Told("a", unit=lambda *_: answers.pop(0))
    made = TaskScheduler(client)
    given = tasks(1, 1)
    done = list(made.run(given, made.add_payload(scene)))
    assert sorted(task.index for task, _ in done) == [0, 1] and [result for _, result in done] == ["made", "made"]
    assert [task.attempts for task in given] == [1, 0] and made.lost == 0


@pytest.mark.parametrize("error", [ValueError("wrong"), raystream.ViewerError("scene", "wrong"), KeyError("x")])
def test_errors_of_a_unit(scene: raystream.Scene, error: Exception) -> None:
    """They are its own, and would be everywhere; whoever works meanwhile is stopped."""
    client = Told("a", "b", unit=lambda address, number: ("error", error) if number else ("pending", None))
    made = TaskScheduler(client)
    with pytest.raises(type(error)) as caught:
        list(made.run(tasks(1, 1), made.add_payload(scene)))
    assert caught.value is error and [each.cancelled for each in client.futures] == [[True], []]
    assert client.futures[1].waited == [task_scheduler.ERROR_TIMEOUT] and all(
        each.job is None for each in made.workers.values()
    )


def test_errors_of_a_preparation(scene: raystream.Scene) -> None:
    """A worker without this program is told by its address, with what it lacks; what it was that was lost with a worker
    is done again; another error is the worker's own."""
    for error in (ImportError("No module named 'raystream'"), AttributeError("no farm")):
        client = Told("a", unit=lambda *_: DONE, other=lambda *_, error=error: ("error", error))  # type: ignore[misc]
        with pytest.raises(raystream.ViewerError) as caught:
            list((made := TaskScheduler(client)).run(tasks(1), made.add_payload(scene)))
        what = f"a has no usable raystream ({error})"
        assert caught.value.typed == f"--cluster: {what} (install it there: pip install 'raystream[farm]')"
    for kind in ("code", "build", "scene"):
        failures: list[Answer] = [("lost", None), ("error", OSError()), ("error", killed())]

        def other(address: str, asked: str, kind: str = kind, failures: list[Answer] = failures) -> Answer | None:
            return failures.pop(0) if asked == kind and failures else None

        client = Told("a", unit=lambda *_: DONE, other=other)
        made = TaskScheduler(client)
        assert len(list(made.run(tasks(1), made.add_payload(scene)))) == 1
        assert [asked for _, asked in client.given].count(kind) == 4 and made.lost == 0 and not failures
        error = ImportError("of OpenGL") if kind != "code" else ValueError("wrong")
        client = Told(
            "a", unit=lambda *_: DONE, other=lambda _, asked, k=kind, e=error: ("error", e) if asked == k else None
        )  # type: ignore[misc]
        with pytest.raises(type(error)) as raised:
            list((made := TaskScheduler(client)).run(tasks(1), made.add_payload(scene)))
        assert raised.value is error


def test_workers_of_other_builds(scene: raystream.Scene) -> None:
    """Those of other code than this process's, and those of other drivers than each other's."""
    build = f"raystream 1 ({source_digest()})"
    mine, code, driver = Build("1", source_digest(), "one"), Build("2", "bb", "one"), Build("1", source_digest(), "two")
    hint = "install the same version there; --mix-builds takes it as it is"
    both = f"{build}, one on a", f"{build}, two on b"
    for builds, lines in (
        ({"a": code}, [f"a has other code, raystream 2 (bb), one, than this process, {source_digest()} ({hint})"]),
        (
            {"a": mine, "b": driver},
            [
                f"its workers would give different bits: {'; '.join(order)} (--mix-builds takes them all)"
                for order in (both, both[::-1])  # as they come
            ],
        ),
    ):

        def other(address: str, kind: str, builds: dict[str, Build] = builds) -> Answer | None:
            return ("finished", builds[address]) if kind == "build" else None

        made = TaskScheduler(Told(*builds, unit=lambda *_: DONE, other=other))
        made.add_payload(scene)
        with pytest.raises(raystream.ViewerError) as caught:
            list(made.run(tasks(1, 1), made.add_payload(scene)))
        assert caught.value.typed in [f"--cluster: {line}" for line in lines]
        mixed = TaskScheduler(Told(*builds, unit=lambda *_: DONE, other=other), mixed=True)
        assert len(list(mixed.run(tasks(1, 1), mixed.add_payload(scene)))) == 2


def test_a_result_that_travels_slowly(scene: raystream.Scene) -> None:
    """It is waited for as long as its worker is there, each time twice as long."""
    client = Told("a", unit=lambda *_: DONE)
    made = TaskScheduler(client)
    late = [TimeoutError(), TimeoutError(), TimeoutError()]

    class Slow(Reply):
        def result(self, timeout: float | None = None) -> Any:
            self.waited.append(timeout)
            if late:
                raise late.pop()
            return "made"

    slow = Slow(*DONE)
    assert made._fetch("a", slow) == "made" and slow.waited == [2.0, 4.0, 8.0, 16.0]
    late += [TimeoutError()]
    client.there = {"b": 1}
    with pytest.raises(TimeoutError):
        made._fetch("a", slow)
    client.there, slow.status = {"a": 1}, "lost"
    late += [TimeoutError()]
    with pytest.raises(TimeoutError):
        made._fetch("a", slow)


def test_a_result_that_is_lost(scene: raystream.Scene) -> None:
    """Is no use, and neither is how long it took; what it held of memory is given back."""
    made = ready(Told("a", unit=lambda *_: DONE))
    task = Task(3, "unit", worker.trace, (3,), 4.0)
    made.seconds[3] = 8.0
    waiting: deque[Task] = deque()
    lost = Reply("finished", OSError("gone"))
    assert made._result("a", task, lost, waiting) is None
    assert list(waiting) == [task] and task.attempts == 1 and lost.released == 1 and made._rate == 0.0
    there = Reply("finished", None)
    assert made._result("a", task, there, waiting) == (None,) and there.released == 1 and made._rate == 2.0
    made.seconds[3] = 4.0
    assert made._result("a", task, Reply(*DONE), waiting) == ("made",) and made._rate == 2.0
    made.seconds[4] = 3e-9
    free = Task(4, "free", worker.trace, (4,), 0.0)
    assert made._result("a", free, Reply(*DONE), waiting) == ("made",) and made._rate == pytest.approx(3.0)


def test_durations(clock: Clock) -> None:
    """From when a unit was given to its end; of one that was repeated the last."""
    client = Told("a", unit=lambda *_: ("pending", None))
    made = ready(client)
    waiting = deque(tasks(1, 1))
    for number, seconds in ((0, 3.0), (1, 5.0)):
        made._assign("a", made.workers["a"], "digest", waiting)
        clock.now += seconds
        task = made._completed_task("a", client.futures[-1], waiting)
        assert task is not None and task.index == number and made.workers["a"].job is None
    assert made.seconds == {0: 3.0, 1: 5.0} and not waiting
    assert made._completed_task("a", client.futures[-1], waiting) is None, "it was taken already"
    assert made._completed_task("b", client.futures[-1], waiting) is None and made.seconds == {0: 3.0, 1: 5.0}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("Timed  out\nafter 3 s"), "Timed out after 3 s"),
        (CancelledError(), "CancelledError"),
        (OSError(), "OSError"),
    ],
)
def test_a_scheduler_that_is_gone(scene: raystream.Scene, error: BaseException, said: str) -> None:
    """In one line; what its workers do is given up."""
    client = Told("a", unit=lambda *_: ("pending", None))
    made = TaskScheduler(client)
    looks = [1, 1, 1, 1, 1]

    def nthreads() -> dict[str, int]:
        if client.futures:
            raise error
        return {"a": looks.pop()}

    client.nthreads = nthreads  # type: ignore[method-assign]
    with pytest.raises(raystream.ViewerError) as caught:
        list(made.run(tasks(1), made.add_payload(scene)))
    assert caught.value.typed == f"--cluster: the scheduler does not answer any more ({said}) (start it again)"
    assert caught.value.__cause__ is error and client.futures[0].cancelled == [True]
    assert made.workers["a"].job is None


def test_who_stops_in_between(scene: raystream.Scene) -> None:
    """Gives up what workers do, also where the cluster does not answer to that."""
    client = Told("a", "b", "c", unit=lambda address, _: DONE if address == "a" else ("pending", None))
    made = TaskScheduler(client)
    running = made.run(tasks(*[1] * 9), made.add_payload(scene))
    while [each.job.kind for each in made.workers.values() if each.job is not None].count("unit") < 2:
        next(running)
    pending = [each for each in client.futures if each.status == "pending"]
    pending[0].cancel = lambda force=False: 1 / 0  # type: ignore[method-assign,assignment]
    running.close()  # type: ignore[attr-defined]
    assert [each.cancelled for each in pending] == [[], [True]]
    assert all(each.job is None for each in made.workers.values())
