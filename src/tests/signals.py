"""Processes that tests send signals to."""

from __future__ import annotations

import signal


def heeding() -> None:
    """For ``preexec_fn``: heed signals that the tests' own process may have inherited as ignored, as under nohup."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
