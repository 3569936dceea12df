"""Units of work on a cluster's workers: who does which, what is done again, and when a worker is replaced.

Each worker has one unit at a time, so that it is known how long that takes: a worker that has gone or hangs is found by
it, and its unit is done by another one. Results do not depend on who made them.
"""

from __future__ import annotations

import hashlib
import pickle
import pkgutil
import queue
import time
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.base.errors import ViewerError
from viewer.farm import worker
from viewer.farm.build import Build, check_builds, sources
from viewer.farm.cluster import INSTALL
from viewer.scene.environment import ImageEnvironment
from viewer.scene.scene import Scene

if TYPE_CHECKING:
    from distributed import Client, Future

LOOK = 0.5  # seconds between two looks at who is there
ALONE = 60.0  # seconds without any worker before that is a fault
MOST_ATTEMPTS = 20  # of a unit: then it is the unit that ends its workers
# A worker hangs that takes this many times as long as its unit should by what the others took, and at least so many
# seconds: a driver compiles, a disk sleeps.
SLOW, LEAST_PATIENCE = 10.0, 60.0
WAIT = 20.0  # seconds for what an error was
LOST = (CancelledError, TimeoutError, OSError)  # what a future raises whose worker has gone
CODE = "viewer.farm.worker:build"  # what a worker must find
FIRST_PATIENCE = 1800.0  # seconds, before any unit is done


@dataclass
class Task:
    """A unit: its number, what it is called, the function of `viewer.farm.worker` with its arguments, and its cost, in
    any measure."""

    number: int
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    cost: float = 1.0
    attempts: int = 0


@dataclass
class _Busy:
    """What a worker is doing: a unit, or in its stead what it needs first."""

    kind: str  # code, build, scene or unit
    future: Future
    since: float
    task: Task | None = None


@dataclass
class _Worker:
    code: bool = False  # this program is there
    build: Build | None = None
    scenes: set[str] = field(default_factory=set)
    busy: _Busy | None = None


class Work:
    """Does tasks on the workers of a cluster.

    patience : seconds that a unit may take at least before its worker counts as hanging. mixed : workers of different
    builds are taken. told : is called with a remark on a worker that was lost.

    lost : workers so far. sent : how often a scene was given to the cluster. seconds : by the tasks' numbers, how long
    each took, its way there and back included.
    """

    def __init__(
        self,
        client: Client,
        *,
        mixed: bool = False,
        patience: float = LEAST_PATIENCE,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self.client, self.mixed, self.patience, self._told = client, mixed, patience, told
        self.workers: dict[str, _Worker] = {}
        self._drivers: dict[str, None] = {}  # in their order
        self.lost = self.sent = 0
        self.seconds: dict[int, float] = {}
        self._events: queue.SimpleQueue[tuple[str, Future]] = queue.SimpleQueue()
        self._payloads: dict[str, tuple[np.ndarray, Future | None]] = {}
        self._rate = 0.0  # seconds of a unit's cost, of the slowest
        self._looked = -LOOK
        self._alone_since: float | None = None

    def hold(self, scene: Scene, environment: ImageEnvironment | None = None) -> str:
        """Have a scene ready for the workers, with an environment that comes from a file: the digest of their
        content."""
        data = pickle.dumps((scene, environment), pickle.HIGHEST_PROTOCOL)
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        self._payloads.setdefault(digest, (np.frombuffer(data, np.uint8), None))
        return digest

    def drivers(self) -> list[str]:
        """Of the workers that have done units, each once; of those that have gone since, too."""
        return list(self._drivers)

    def run(self, tasks: Sequence[Task], scene: str) -> Iterator[tuple[Task, Any]]:
        """Do the tasks with a scene that is `hold`; yields each with its result when it is done, in any order.

        Raises ViewerError where there are no workers, their builds differ, or a unit fails wherever it is done.
        """
        waiting, left = deque(tasks), len(tasks)
        try:
            while left:
                self._look(waiting)
                for address, each in self.workers.items():
                    if each.busy is None:
                        self._give(address, each, scene, waiting)
                try:
                    address, future = self._events.get(timeout=LOOK)
                except queue.Empty:
                    continue
                done = self._take(address, future, waiting)
                if done is not None:
                    free = self.workers.get(address)
                    if waiting and free is not None and free.busy is None:
                        self._give(address, free, scene, waiting)  # it works while its result is on the way
                    result = self._result(address, done, future, waiting)
                    if result is not None:
                        left -= 1
                        yield done, result[0]
        except (OSError, CancelledError) as error:  # of the client's own; what units raise is looked at by `_failed`
            what = f"the scheduler does not answer any more ({' '.join(str(error).split()) or type(error).__name__})"
            raise ViewerError("--cluster", what, "start it again") from error
        finally:
            for each in self.workers.values():
                if each.busy is not None:
                    with suppress(Exception, CancelledError):
                        each.busy.future.cancel(force=True)
                    each.busy = None

    # -- who is there ----------------------------------------------------------------------------------------------

    def _look(self, waiting: deque[Task]) -> None:
        """Who has come and who has gone or hangs, from time to time."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        there = set(self.client.nthreads())
        for address in there - self.workers.keys():
            self.workers[address] = _Worker()
        for address in self.workers.keys() - there:
            self._lose(address, waiting, "has gone")
        for address, each in list(self.workers.items()):
            if each.busy is not None and now - each.busy.since > self._patience(each.busy):
                self._replace(address, waiting)
        if self.workers:
            self._alone_since = None
            return
        self._alone_since = self._alone_since or now
        if now - self._alone_since > ALONE:
            what = f"there has been no worker for {ALONE:.0f} seconds"
            raise ViewerError("--cluster", what, "dask worker SCHEDULER --nthreads 1 starts some")

    def _patience(self, busy: _Busy) -> float:
        """Seconds that a worker may take for what it does."""
        if busy.task is None or not self._rate:
            return FIRST_PATIENCE
        return max(self.patience, SLOW * self._rate * busy.task.cost)

    def _lose(self, address: str, waiting: deque[Task], how: str) -> None:
        each = self.workers.pop(address)
        self.lost += 1
        if each.busy is not None:
            self._again(each.busy.task, waiting, address, how)
            with suppress(Exception):
                each.busy.future.cancel(force=True)
        if self._told is not None:
            self._told(f"worker {address} {how}; what it was at is done again")

    def _again(self, task: Task | None, waiting: deque[Task], address: str, how: str) -> None:
        """Put a task in front of those that wait."""
        if task is None:
            return
        task.attempts += 1
        if task.attempts >= MOST_ATTEMPTS:
            what = f"{task.name}: was begun {task.attempts} times; the last worker, {address}, {how}"
            raise ViewerError("--cluster", what, "look at what the worker printed")
        waiting.appendleft(task)

    def _replace(self, address: str, waiting: deque[Task]) -> None:
        """End a worker that hangs: whoever watches over it starts another."""
        self._lose(address, waiting, "does not answer")
        with suppress(Exception):  # nobody watches over it: it is left alone
            self.client.restart_workers([address], timeout=10, raise_for_error=False)

    # -- what they do ----------------------------------------------------------------------------------------------

    def _give(self, address: str, each: _Worker, scene: str, waiting: deque[Task]) -> None:
        """The next thing for a worker that has nothing to do."""
        if not each.code:  # by a function of Python's own: a worker ends that is sent one that it does not find
            self._submit(address, each, "code", None, pkgutil.resolve_name, CODE)
        elif each.build is None:
            self._submit(address, each, "build", None, worker.build)
        elif not waiting:
            return
        elif scene not in each.scenes:
            self._submit(address, each, "scene", None, worker.hold, scene, self._payload(scene))
        else:
            task = waiting.popleft()
            self._submit(address, each, "unit", task, task.function, *task.arguments)

    def _submit(self, address: str, each: _Worker, kind: str, task: Task | None, *call: Any) -> None:
        future = self.client.submit(*call, workers=[address], allow_other_workers=False, pure=False)
        each.busy = _Busy(kind, future, time.monotonic(), task)
        future.add_done_callback(lambda done: self._events.put((address, done)))

    def _payload(self, scene: str) -> Future:
        """The scene in the cluster's memory, to which it travels once; workers have it from each other."""
        data, future = self._payloads[scene]
        if future is None or future.status != "finished":
            future = self.client.scatter(data, hash=False)
            self._payloads[scene] = data, future
            self.sent += 1
        return future

    def _take(self, address: str, future: Future, waiting: deque[Task]) -> Task | None:
        """The task that has ended, if it was one; else what was learned of the worker is noted."""
        each = self.workers.get(address)
        if each is None or each.busy is None or each.busy.future is not future:
            return None  # of a worker that was given up
        busy, each.busy = each.busy, None
        if busy.kind == "unit":
            assert busy.task is not None
            self.seconds[busy.task.number] = time.monotonic() - busy.since
            if each.build is not None:
                self._drivers[each.build.driver] = None
            return busy.task
        if future.status != "finished":
            if busy.kind == "code" and future.status == "error":
                self._no_code(address, future.exception(timeout=WAIT))
            self._failed(future, busy.task, waiting, address)
        elif busy.kind == "code":
            each.code = True
        elif busy.kind == "build":
            each.build = future.result()
            self._check(address, each)
        else:
            each.scenes.update(self._payloads)
        return None

    def _no_code(self, address: str, error: BaseException | None) -> None:
        """Raise where a worker lacks this program, or its farm."""
        if isinstance(error, (ImportError, AttributeError)):
            what, hint = f"{address} has no raystream that it could work with ({error})", "install it there"
            raise ViewerError("--cluster", what, f"{hint}: {INSTALL}")

    def _check(self, address: str, each: _Worker) -> None:
        """Raise where a worker's samples would be others."""
        assert each.build is not None
        if each.build.sources != sources() and not self.mixed:
            what = f"{address} has other code, {each.build}, than this process, {sources()}"
            raise ViewerError("--cluster", what, "install the same version there; --mix-builds takes it as it is")
        check_builds({name: w.build for name, w in self.workers.items() if w.build is not None}, self.mixed)

    def _result(self, address: str, task: Task, future: Future, waiting: deque[Task]) -> tuple[Any] | None:
        """A task's result; None where it must be done again."""
        if future.status == "finished":
            try:
                result = self._fetched(address, future)
            except LOST:
                self._again(task, waiting, address, "has gone with its result")
                return None
            finally:
                future.release()
            self._rate = max(self._rate, self.seconds[task.number] / max(task.cost, 1e-9))
            return (result,)
        self._failed(future, task, waiting, address)
        return None

    def _fetched(self, address: str, future: Future) -> Any:
        """The result, however long its way is; raises one of `LOST` where its worker has gone meanwhile."""
        patience = 2.0
        while True:
            try:
                return future.result(timeout=patience)
            except TimeoutError:
                if future.status != "finished" or address not in self.client.nthreads():
                    raise
                patience *= 2  # it began anew

    def _failed(self, future: Future, task: Task | None, waiting: deque[Task], address: str) -> None:
        """Raise what a unit has raised, unless it was the worker's end: then it is done again."""
        from distributed import KilledWorker

        error = future.exception(timeout=WAIT) if future.status == "error" else None
        if isinstance(error, worker.SceneMissing):
            for each in self.workers.values():
                each.scenes.clear()
        elif error is not None and not isinstance(error, (KilledWorker, *LOST)):
            raise error
        self._again(task, waiting, address, "has gone")
