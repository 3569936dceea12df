"""A client whose workers are this process: what real ones would do is done at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raystream.farm import worker
from raystream.farm.units import Build, source_digest


class Done:
    """A future that is done, by a function of `raystream.farm.worker`."""

    def __init__(self, call: Callable[[], Any]) -> None:
        try:
            self.status, self.value = "finished", call()
        except Exception as error:
            self.status, self.value = "error", error

    def add_done_callback(self, call: Callable[[Done], None]) -> None:
        call(self)

    def result(self, timeout: float | None = None) -> Any:
        return self.value

    exception = result

    def cancel(self, force: bool = False) -> None:
        pass

    release = cancel


class Here:
    """A client of workers that all are this process. drivers : that they say to have, by their addresses."""

    def __init__(self, drivers: dict[str, str]) -> None:
        self.drivers = drivers

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.drivers, 1)

    def scatter(self, data: Any, hash: bool) -> Done:
        return Done(lambda: data)

    def submit(self, function: Any, *call: Any, workers: list[str], **_: Any) -> Done:
        if function is worker.build:
            return Done(lambda: Build("1", source_digest(), self.drivers[workers[0]]))
        return Done(lambda: function(*(each.value if isinstance(each, Done) else each for each in call)))
