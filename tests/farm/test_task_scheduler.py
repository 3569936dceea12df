"""The assignment of units, and what is repeated where workers are lost, with a client that answers as it is told."""

from __future__ import annotations

import hashlib
import pickle
import pkgutil
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

import raystream
from raystream.farm import task_scheduler, worker
from raystream.farm.task_scheduler import TaskScheduler
from raystream.farm.units import Build, source_digest
from tests.farm.told import DONE, Answer, Reply, Told, ready, tasks


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


def test_what_a_worker_is_given(scene: raystream.Scene) -> None:
    """First the program, by a built-in function; then its build is asked for, and it gets the scene; then units. All of
    it is for that worker alone, and is done however often the same was asked for."""
    client = Told("a", unit=lambda *_: DONE)
    made = TaskScheduler(client)
    digest = made.add_payload(scene)
    given = tasks(1, 2)
    assert list(made.run(given, digest)) == [(given[0], "made"), (given[1], "made")]
    data = pickle.dumps((scene, None), pickle.HIGHEST_PROTOCOL)
    assert digest == hashlib.blake2b(data, digest_size=16).hexdigest() and len(digest) == 32
    alone = {"workers": ["a"], "allow_other_workers": False, "pure": False}
    code, build, scattered, (add_payload, name, payload, options), *units = client.calls
    assert code == (pkgutil.resolve_name, "raystream.farm.worker:build", alone)
    assert build == (worker.build, alone) and scattered == ("scatter", data, False)
    assert (add_payload, name, options) == (worker.store_payload, digest, alone) and isinstance(payload, Reply)
    assert units == [(worker.trace, 0, alone), (worker.trace, 1, alone)]
    assert [(each.released, each.cancelled) for each in client.futures] == [(1, []), (1, [])]
    assert pkgutil.resolve_name(task_scheduler.CODE) is worker.build


def test_what_a_worker_has_it_keeps(scene: raystream.Scene) -> None:
    """From one picture to the next: of the same scene units alone are given."""
    client = Told("a", unit=lambda *_: DONE)
    made = TaskScheduler(client)
    for count in (2, 3):
        assert len(list(made.run(tasks(*[1] * count), made.add_payload(scene)))) == count
    assert [kind for _, kind in client.given] == ["code", "build", "scene", *["unit"] * 5]
    assert made.sent == 1
    other = made.add_payload(raystream.Scene(scene.name, scene.meshes, scene.instances, scene.materials), None)
    assert other != made.add_payload(scene) and len(made._payloads) == 2


def test_units_in_their_order(scene: raystream.Scene) -> None:
    """A worker that is done has the next one before its result is fetched; each has one at a time."""
    events: list[tuple[str, Any]] = []
    client = Told("a", "b", unit=lambda address, number: events.append((address, number)) or ("pending", None))
    made = TaskScheduler(client)
    queue, fetched = made._events, made._fetch

    def fetch(address: str, future: Any) -> Any:
        events.append((address, "fetched"))
        return fetched(address, future)

    def answered(timeout: float) -> Any:
        if queue.empty():  # the one that was begun last is done first
            [each for each in client.futures if each.status == "pending"][-1].end(*DONE)
        return queue.get(timeout=timeout)

    made._fetch = fetch  # type: ignore[method-assign]
    made._events = SimpleNamespace(get=answered, put=queue.put)  # type: ignore[assignment]
    done = [task.index for task, _ in made.run(tasks(1, 1, 1, 1), made.add_payload(scene))]
    (first, _), (last, _) = events[:2]
    assert {first, last} == {"a", "b"} and done == [1, 2, 3, 0]
    quick = [(last, 1), (last, 2), (last, "fetched"), (last, 3), (last, "fetched"), (last, "fetched")]
    assert events == [(first, 0), *quick, (first, "fetched")]


def test_more_workers_than_units(scene: raystream.Scene) -> None:
    """The others are prepared, in case that one is lost."""
    client = Told("a", "b", "c", unit=lambda *_: DONE)
    made = TaskScheduler(client)
    assert len(list(made.run(tasks(1), made.add_payload(scene)))) == 1
    assert [kind for _, kind in client.given].count("unit") == 1 and not list(made.run([], made.add_payload(scene)))


def test_drivers_of_the_samples() -> None:
    """Each once, in the order in which they came, also of workers that went; not of those whose units were lost."""
    drivers = {"d": "three", "b": "two", "a": "one", "c": "two"}
    answers = {"d": ("lost", None), "a": DONE, "b": DONE, "c": DONE}
    client = Told(*drivers, unit=lambda address, _: answers[address])
    made, waiting = ready(client), deque(tasks(1, 1, 1, 1))
    for address, driver in drivers.items():
        made.workers[address].build = Build("1", source_digest(), driver)
        made._assign(address, made.workers[address], "digest", waiting)
        task = made._completed_task(address, client.futures[-1], waiting)
        assert task is not None and (made._result(address, task, client.futures[-1], waiting) is None) == (
            address == "d"
        )
    made.workers.clear()
    assert made.drivers() == ["two", "one"] and len(waiting) == 1
    made.drivers().append("more")
    assert made.drivers() == ["two", "one"]
