"""The assignment of units, and what is done where workers are lost, hang, differ or fail."""

from __future__ import annotations

import pkgutil
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import raystream
from raystream.farm import task_scheduler, worker
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


@pytest.fixture(scope="module")
def scene() -> raystream.Scene:
    return raystream.load("cornell")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_scheduler, "CHECK_INTERVAL", 0.01)


def test_a_worker_that_lost_the_scene_gets_it_again(scene: raystream.Scene) -> None:
    """It was started again at the same address: it has the program, but not the scene."""
    answers = [("error", worker.SceneLost("digest")), DONE, DONE]
    client = Told("a", unit=lambda *_: answers.pop(0))
    made = TaskScheduler(client)
    found = list(made.run(tasks(1, 1), made.add_payload(scene)))
    assert sorted(task.index for task, _ in found) == [0, 1]
    kinds = [kind for _, kind in client.given]
    assert kinds == ["code", "build", "scene", "unit", "unit", "scene", "unit"], "the second was given meanwhile"
    assert made.sent == 1 and made.lost == 0, "the cluster has it still"


def test_a_scene_that_the_cluster_has_lost_is_sent_again(scene: raystream.Scene) -> None:
    client = Told("a", "b", unit=lambda *_: DONE, scattered=["lost", "finished"])
    made = TaskScheduler(client)
    assert len(list(made.run(tasks(1, 1, 1), made.add_payload(scene)))) == 3
    assert made.sent == 2


def test_the_answer_from_before_a_worker_came_back_is_not_taken(scene: raystream.Scene) -> None:
    """At the same address: what it works on by then is another future."""

    def unit(address: str, number: int) -> Answer:
        if not client.futures:
            return "pending", None
        client.futures[0].end("finished", "late")
        return DONE

    client = Told("a", unit=unit)
    made = TaskScheduler(client)
    running = made.run(tasks(1), made.add_payload(scene))
    looks: list[dict[str, int]] = [{}]

    def nthreads() -> dict[str, int]:
        return looks.pop() if client.futures and looks else {"a": 1}

    client.nthreads = nthreads  # type: ignore[method-assign]
    assert [(task.attempts, result) for task, result in running] == [(1, "made")] and made.lost == 1


def test_a_cluster_may_be_empty_now_and_then(scene: raystream.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time for less than a minute: what counts is how long it has been since the last worker went."""
    clock, looks = [1.0], [{}, {"a": 1}, {}]
    monkeypatch.setattr(task_scheduler, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    client = Told("a", unit=lambda *_: DONE)
    made = TaskScheduler(client)

    def nthreads() -> dict[str, int]:
        clock[0] += 0.7 * task_scheduler.MAX_EMPTY_TIME
        return looks.pop(0) if looks else {"a": 1}

    client.nthreads = nthreads  # type: ignore[method-assign]
    assert len(list(made.run(tasks(1), made.add_payload(scene)))) == 1 and made.lost == 1
    looks += [{}, {}, {}, {"a": 1}]
    with pytest.raises(raystream.ViewerError, match="no worker for 60 seconds"):
        list(made.run(tasks(1), made.add_payload(scene)))
    assert looks == [{"a": 1}], "the third look is more than a minute after the first"


# -- what workers are given --------------------------------------------------------------------------------------------


class Clock:
    """Seconds that pass as they are told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(task_scheduler, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


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
        ("error", OSError("gone")),
        ("error", CancelledError()),
        ("error", worker.SceneLost("digest")),
        ("error", "killed"),
        ("finished", OSError("gone")),
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
    is done again."""
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


def test_a_worker_is_killed_while_the_scene_travels_to_it(scene: raystream.Scene) -> None:
    """Which is no silence of the scheduler: others get it."""
    client = Told("a", unit=lambda *_: DONE, scattered=[TimeoutError(), OSError("gone"), "finished"])
    made = TaskScheduler(client)
    assert len(list(made.run(tasks(1), made.add_payload(scene)))) == 1 and made.sent == 1


def test_the_scheduler_goes_while_the_scene_travels(scene: raystream.Scene) -> None:
    client = Told("a", unit=lambda *_: DONE)
    made = TaskScheduler(client)

    def scatter(data: Any, hash: bool) -> Reply:
        client.nthreads = lambda: (_ for _ in ()).throw(OSError("closed"))  # type: ignore[method-assign]
        raise TimeoutError

    client.scatter = scatter  # type: ignore[method-assign]
    with pytest.raises(raystream.ViewerError, match="scheduler does not answer"):
        list(made.run(tasks(1), made.add_payload(scene)))


def test_the_answer_of_a_lost_worker_is_not_taken(scene: raystream.Scene) -> None:
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
    made = TaskScheduler(client, notify=notes.append)
    running = made.run(tasks(1), made.add_payload(scene))

    def nthreads() -> dict[str, int]:
        if client.futures:
            client.there = {"b": 1}
        return dict(client.there)

    client.nthreads = nthreads  # type: ignore[method-assign]
    assert [(task.attempts, result) for task, result in running] == [(1, "made")]
    assert made.lost == 1 and notes == ["worker a has gone; its work is repeated"]


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
