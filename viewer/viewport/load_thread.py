"""Scenes are loaded and their structures built in a worker thread, so that the window goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from raystream.base.errors import ViewerError
from raystream.base.interrupts import UNWAITED
from raystream.renderer.preview.scheduler import HANDOVER
from raystream.scene.scene import Scene


class Cancelled(Exception):
    """The user does not want the scene any more."""


class LoadThread:
    """One scene at a time. Poll it from the window's thread; OpenGL is not touched here.

    prepare : (scene, call back with the share that is done and a text, the options of `start`) -> the prepared scene.
    wake : called from the worker when there is something to poll.
    glance : (scene, the options of `start`) -> a first result on a scene that has been read, long before that; None
    where it raises ViewerError, which ``prepare`` will, too.
    """

    def __init__(
        self,
        load: Callable[[str], Scene],
        prepare: Callable[..., object],
        wake: Callable[[], None] = lambda: None,
        glance: Callable[..., object] | None = None,
    ) -> None:
        self._load, self._prepare, self._glance, self._wake = load, prepare, glance, wake
        self._thread: threading.Thread | None = None
        self._job = 0  # results of an earlier job are not wanted any more
        self._result: tuple[int, str, object] | None = None
        self._early: tuple[int, str, object] | None = None
        self._early_shown = threading.Event()  # what was found first
        self.path = ""
        self.step = ""
        self.share: float | None = None  # that is done, where it is known

    @property
    def busy(self) -> bool:
        """Whether a scene is being loaded."""
        return bool(self.path)

    def start(self, path: str, scene: Scene | None = None, **options: Any) -> None:
        """Load another scene, or take one that is loaded, and prepare it with ``options``; one in progress ends."""
        self._job += 1
        self.share = None
        self.path, self.step, self._result = path, "loading" if scene is None else "building", None
        arguments = path, scene, options, self._job
        self._thread = threading.Thread(target=self._work, name=UNWAITED, args=arguments, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Give up the scene in progress."""
        self._job += 1
        self.path, self._result = "", None

    def poll(self) -> tuple[str, object] | None:
        """(path, the result of `prepare`, or the exception) once it is there, and never twice."""
        result = self._result
        if result is None or result[0] != self._job:
            return None
        self._result = None
        self.path = ""
        return result[1], result[2]

    def poll_early(self) -> tuple[str, object] | None:
        """(path, the result of ``glance``) once it is there, and never twice."""
        early, self._early = self._early, None
        return None if early is None or early[0] != self._job else early[1:]

    def proceed(self) -> None:
        """The first result is shown: the worker need not wait any longer."""
        self._early_shown.set()

    def _work(self, path: str, scene: Scene | None, options: Mapping[str, Any], job: int) -> None:
        result: object
        try:
            if scene is None:
                scene = self._load(path)
                self._look(job, path, scene, options)
            self._check(job)
            self.step = "building"
            result = self._prepare(scene, lambda fraction, _: self._tell(job, fraction), **options)
            self._check(job)
        except Cancelled:
            return
        except MemoryError:
            result = ViewerError(path, "not enough memory", "choose a smaller scene")
        except Exception as error:  # shown in the window as one line; the old scene stays
            result = error
        if job == self._job:
            self._result = (job, path, result)
            self._wake()

    def _look(self, job: int, path: str, scene: Scene, options: Mapping[str, Any]) -> None:
        """The first result, at once."""
        self._check(job)
        if self._glance is None:
            return
        try:
            early = job, path, self._glance(scene, **options)
        except ViewerError:
            return
        self._early_shown.clear()
        self._early = early
        self._wake()
        self._early_shown.wait(HANDOVER)

    def _tell(self, job: int, fraction: float) -> None:
        """Progress; ends the work that is not wanted any more."""
        self._check(job)
        self.share = fraction

    def _check(self, job: int) -> None:
        if job != self._job:
            raise Cancelled
