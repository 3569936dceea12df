"""Units of work on a cluster's workers: assignment, repetition, and replacement of workers.

Each worker has one unit at a time, so that its expected duration is known: a lost or hanging worker is detected by it,
and its unit repeated elsewhere. Results do not depend on the worker.
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

from raystream.base.errors import ViewerError
from raystream.farm import worker
from raystream.farm.cluster import INSTALL
from raystream.farm.units import Build, check_builds, source_digest
from raystream.scene.environment import ImageEnvironment
from raystream.scene.scene import Scene

if TYPE_CHECKING:
    from distributed import Client, Future

    from raystream.dataset.stage import DatasetStage

CHECK_INTERVAL = 0.5  # seconds between checks of the workers
MAX_EMPTY_TIME = 60.0  # seconds without any worker before it is an error
MAX_ATTEMPTS = 20  # of a unit, before it is blamed for its workers' ends
# A worker hangs after this multiple of its unit's duration as predicted from the others, and at least this many
# seconds: drivers compile, disks sleep.
TIMEOUT_FACTOR, MIN_TIMEOUT = 10.0, 60.0
ERROR_TIMEOUT = 20.0  # seconds to wait for an error's details
LOST_ERRORS = (CancelledError, TimeoutError, OSError)  # raised by a future whose worker is lost
CODE = "raystream.farm.worker:build"  # must be importable on workers
FIRST_TIMEOUT = 1800.0  # seconds, before any unit is finished


@dataclass
class Task:
    """A unit: its index, name, function of `raystream.farm.worker` with arguments, and cost in any measure."""

    index: int
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    cost: float = 1.0
    attempts: int = 0


@dataclass
class _Job:
    """A worker's current job: a unit, or a preparation for one."""

    kind: str  # "code", "build", "scene" or "unit"
    future: Future
    start_time: float
    task: Task | None = None


@dataclass
class _Worker:
    code: bool = False  # this program is installed there
    build: Build | None = None
    scenes: set[str] = field(default_factory=set)
    job: _Job | None = None


class TaskScheduler:
    """Runs tasks on the workers of a cluster.

    wait_timeout : least seconds of a unit before its worker counts as hanging. mixed : accept workers of different
    builds. notify : called with a remark on each lost worker.

    lost : workers so far. sent : transfers of a scene to the cluster. seconds : duration by task index, transfers
    included.
    """

    def __init__(
        self,
        client: Client,
        *,
        mixed: bool = False,
        wait_timeout: float = MIN_TIMEOUT,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.client, self.mixed, self.wait_timeout, self._notify = client, mixed, wait_timeout, notify
        self.workers: dict[str, _Worker] = {}
        self._drivers: dict[str, None] = {}  # in order of appearance
        self.lost = self.sent = 0
        self.seconds: dict[int, float] = {}
        self._events: queue.SimpleQueue[tuple[str, Future]] = queue.SimpleQueue()
        self._payloads: dict[str, tuple[np.ndarray, Future | None]] = {}
        self._rate = 0.0  # seconds per cost of a unit, of the slowest
        self._last_check = -CHECK_INTERVAL
        self._empty_since: float | None = None

    def add_payload(self, scene: Scene | DatasetStage, environment: ImageEnvironment | None = None) -> str:
        """Prepare a scene for the workers, with its environment's picture, if from a file, or a dataset's stage;
        returns the digest of their content."""
        data = pickle.dumps((scene, environment), pickle.HIGHEST_PROTOCOL)
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        self._payloads.setdefault(digest, (np.frombuffer(data, np.uint8), None))
        return digest

    def drivers(self) -> list[str]:
        """Drivers of all workers that have finished units, each once, including lost workers."""
        return list(self._drivers)

    def run(self, tasks: Sequence[Task], scene: str) -> Iterator[tuple[Task, Any]]:
        """Run the tasks with a scene from `add_payload`; yields each with its result, in any order. Raises ViewerError
        without workers, for different builds, and for a unit that fails everywhere."""
        pending, remaining = deque(tasks), len(tasks)
        try:
            while remaining:
                self._check_workers(pending)
                for address, state in self.workers.items():
                    if state.job is None:
                        self._assign(address, state, scene, pending)
                try:
                    address, future = self._events.get(timeout=CHECK_INTERVAL)
                except queue.Empty:
                    continue
                completed = self._completed_task(address, future, pending)
                if completed is not None:
                    free = self.workers.get(address)
                    if pending and free is not None and free.job is None:
                        self._assign(address, free, scene, pending)  # it works while its result is transferred
                    result = self._result(address, completed, future, pending)
                    if result is not None:
                        remaining -= 1
                        yield completed, result[0]
        except (OSError, CancelledError) as error:  # the client's own errors; units' errors are handled in `_failed`
            what = f"the scheduler does not answer any more ({' '.join(str(error).split()) or type(error).__name__})"
            raise ViewerError("--cluster", what, "start it again") from error
        finally:
            for state in self.workers.values():
                if state.job is not None:
                    with suppress(Exception, CancelledError):
                        state.job.future.cancel(force=True)
                    state.job = None

    # -- the workers -----------------------------------------------------------------------------------------------

    def _check_workers(self, pending: deque[Task]) -> None:
        """Note new, lost and hanging workers, from time to time."""
        now = time.monotonic()
        if now - self._last_check < CHECK_INTERVAL:
            return
        self._last_check = now
        present = set(self.client.nthreads())
        for address in present - self.workers.keys():
            self.workers[address] = _Worker()
        for address in self.workers.keys() - present:
            self._remove_worker(address, pending, "has gone")
        for address, state in list(self.workers.items()):
            if state.job is not None and now - state.job.start_time > self._timeout(state.job):
                self._replace(address, pending)
        if self.workers:
            self._empty_since = None
            return
        self._empty_since = self._empty_since or now
        if now - self._empty_since > MAX_EMPTY_TIME:
            what = f"there has been no worker for {MAX_EMPTY_TIME:.0f} seconds"
            raise ViewerError("--cluster", what, "dask worker SCHEDULER --nthreads 1 starts some")

    def _timeout(self, job: _Job) -> float:
        """Seconds after which a worker with this job counts as hanging."""
        if job.task is None or not self._rate:
            return FIRST_TIMEOUT
        return max(self.wait_timeout, TIMEOUT_FACTOR * self._rate * job.task.cost)

    def _remove_worker(self, address: str, pending: deque[Task], reason: str) -> None:
        """Forget a lost worker; its task goes back to the queue. reason : in words, for messages."""
        state = self.workers.pop(address)
        self.lost += 1
        if state.job is not None:
            self._retry(state.job.task, pending, address, reason)
            with suppress(Exception):
                state.job.future.cancel(force=True)
        if self._notify is not None:
            self._notify(f"worker {address} {reason}; its work is repeated")

    def _retry(self, task: Task | None, pending: deque[Task], address: str, reason: str) -> None:
        """Put a lost worker's task, if any, at the head of the queue; raises ViewerError after `MAX_ATTEMPTS`."""
        if task is None:
            return
        task.attempts += 1
        if task.attempts >= MAX_ATTEMPTS:
            what = f"{task.name}: was begun {task.attempts} times; the last worker, {address}, {reason}"
            raise ViewerError("--cluster", what, "look at what the worker printed")
        pending.appendleft(task)

    def _replace(self, address: str, pending: deque[Task]) -> None:
        """End a hanging worker; its nanny, if any, starts another."""
        self._remove_worker(address, pending, "does not answer")
        with suppress(Exception):  # without a nanny it is left alone
            self.client.restart_workers([address], timeout=10, raise_for_error=False)

    # -- their jobs -------------------------------------------------------------------------------------------------

    def _assign(self, address: str, state: _Worker, scene: str, pending: deque[Task]) -> None:
        """Give an idle worker its next job: a preparation that it lacks, else a unit, if there is one."""
        if not state.code:  # by a built-in function: a worker dies on a function that it cannot import
            self._submit(address, state, "code", None, pkgutil.resolve_name, CODE)
        elif state.build is None:
            self._submit(address, state, "build", None, worker.build)
        elif not pending:
            return
        elif scene not in state.scenes:
            payload = self._payload(scene)
            if payload is not None:
                self._submit(address, state, "scene", None, worker.store_payload, scene, payload)
        else:
            task = pending.popleft()
            self._submit(address, state, "unit", task, task.function, *task.arguments)

    def _submit(self, address: str, state: _Worker, kind: str, task: Task | None, *call: Any) -> None:
        future = self.client.submit(*call, workers=[address], allow_other_workers=False, pure=False)
        state.job = _Job(kind, future, time.monotonic(), task)
        future.add_done_callback(lambda done: self._events.put((address, done)))

    def _payload(self, scene: str) -> Future | None:
        """The scene in the cluster's memory, transferred once; workers get it from each other. None where the worker
        that was to have it first is lost meanwhile: another will."""
        data, future = self._payloads[scene]
        if future is None or future.status != "finished":
            try:
                future = self.client.scatter(data, hash=False)
            except LOST_ERRORS:
                self.client.nthreads()  # raises where it is the scheduler that is lost
                return None
            self._payloads[scene] = data, future
            self.sent += 1
        return future

    def _completed_task(self, address: str, future: Future, pending: deque[Task]) -> Task | None:
        """Note a finished job: its task, if it was a unit; None for a preparation, whose result is noted for the
        worker."""
        state = self.workers.get(address)
        if state is None or state.job is None or state.job.future is not future:
            return None  # of an abandoned worker
        job, state.job = state.job, None
        if job.kind == "unit":
            assert job.task is not None
            self.seconds[job.task.index] = time.monotonic() - job.start_time
            return job.task
        if future.status != "finished":
            if job.kind == "code" and future.status == "error":
                self._check_importable(address, future.exception(timeout=ERROR_TIMEOUT))
            self._failed(future, job.task, pending, address)
        elif job.kind == "code":
            state.code = True
        elif job.kind == "build":
            state.build = future.result()
            self._check_build(address, state)
        else:
            state.scenes.update(self._payloads)
        return None

    def _check_importable(self, address: str, error: BaseException | None) -> None:
        """Raise ViewerError if ``error`` says that a worker lacks this program, or its farm."""
        if isinstance(error, (ImportError, AttributeError)):
            what, hint = f"{address} has no usable raystream ({error})", "install it there"
            raise ViewerError("--cluster", what, f"{hint}: {INSTALL}")

    def _check_build(self, address: str, state: _Worker) -> None:
        """Raise ViewerError where a worker's samples would differ from this process' or other workers'."""
        assert state.build is not None
        if state.build.sources != source_digest() and not self.mixed:
            what = f"{address} has other code, {state.build}, than this process, {source_digest()}"
            raise ViewerError("--cluster", what, "install the same version there; --mix-builds takes it as it is")
        check_builds({name: w.build for name, w in self.workers.items() if w.build is not None}, self.mixed)

    def _result(self, address: str, task: Task, future: Future, pending: deque[Task]) -> tuple[Any] | None:
        """A task's result, in a tuple; None if the task must be repeated."""
        if future.status == "finished":
            try:
                result = self._fetch(address, future)
            except LOST_ERRORS:
                self._retry(task, pending, address, "was lost with its result")
                return None
            finally:
                future.release()
            self._rate = max(self._rate, self.seconds[task.index] / max(task.cost, 1e-9))
            if (build := self.workers[address].build) is not None:
                self._drivers[build.driver] = None
            return (result,)
        self._failed(future, task, pending, address)
        return None

    def _fetch(self, address: str, future: Future) -> Any:
        """The result, however slow its transfer; raises one of `LOST_ERRORS` if its worker is lost meanwhile."""
        timeout = 2.0
        while True:
            try:
                return future.result(timeout=timeout)
            except TimeoutError:
                if future.status != "finished" or address not in self.client.nthreads():
                    raise
                timeout *= 2  # restarted

    def _failed(self, future: Future, task: Task | None, pending: deque[Task], address: str) -> None:
        """Repeat a task whose worker is gone or has lost its scene, which is then sent to all again; raise other errors
        of the task."""
        from distributed import KilledWorker

        error = future.exception(timeout=ERROR_TIMEOUT) if future.status == "error" else None
        if isinstance(error, worker.SceneLost):
            for state in self.workers.values():
                state.scenes.clear()
        elif error is not None and not isinstance(error, (KilledWorker, *LOST_ERRORS)):
            raise error
        self._retry(task, pending, address, "has gone")
