"""Queries: what passes tell of themselves, once the device has come so far."""

from __future__ import annotations

import weakref
from typing import Any

from viewer.stream.gl.device import Device


class Query:
    """Counts the samples of what is drawn inside of it, or the primitives, or takes the time; the context must be
    current in every call.

    moderngl frees no query, so that one which Python drops serves the next that asks for the same.
    """

    def __init__(self, device: Device, samples: bool = False, time: bool = False, primitives: bool = False) -> None:
        free = device.queries[samples, time, primitives]
        # The one dropped longest ago: one that is asked again at once waits for its last answer.
        held = free.popleft() if free else device.context.query(samples=samples, time=time, primitives=primitives)
        self._held = held
        weakref.finalize(self, free.append, held).atexit = False

    def __enter__(self) -> Query:
        self._held.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._held.__exit__(*error)

    @property
    def samples(self) -> int:
        """That passed; waits."""
        return int(self._held.samples)

    @property
    def primitives(self) -> int:
        """That were written; waits."""
        return int(self._held.primitives)

    @property
    def elapsed(self) -> int:
        """Nanoseconds; waits."""
        return int(self._held.elapsed)

    @property
    def crender(self) -> Any:
        """Inside of it draws are done only if samples passed."""
        return self._held.crender
