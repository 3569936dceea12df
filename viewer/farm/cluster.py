"""The workers of a cluster: processes on this machine, or those of a running scheduler."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from raystream.base.errors import ViewerError

if TYPE_CHECKING:
    from distributed import Client

INSTALL = "pip install 'raystream[farm]'"
EXPECTED = "expected local, local:N, tcp://HOST:PORT or a scheduler's file"
MAX_LOCAL_WORKERS = 256  # processes
CONNECT_TIMEOUT = 5.0  # seconds for a scheduler to answer
CHECK_INTERVAL = 0.05  # seconds between checks whether processes have started
# One thread of the software driver per worker, too: there are as many processes as cores.
ONE_THREAD = {"LP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "DASK_LOGGING__DISTRIBUTED": "critical"}
# A terminal sends Ctrl-C to all processes: the one that asked for the picture ends the workers.
PRELOAD = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


def check_cluster(cluster: str) -> None:
    """Raise ViewerError for a value that `connected` would refuse before any connection."""
    _parse_cluster(cluster)
    if find_spec("distributed") is None:
        raise ViewerError("--cluster", "dask.distributed is not installed", INSTALL)


@contextmanager
def connected(cluster: str) -> Iterator[Client]:
    """A client of a cluster: ``local`` processes (as many as cores, or ``local:N``), which end with the context; or the
    scheduler at an address or of a scheduler's file. Raises ViewerError for anything else, an unresponsive scheduler,
    and without dask.distributed."""
    check_cluster(cluster)
    form, value = _parse_cluster(cluster)
    import distributed

    for name in ("distributed", "distributed.client", "asyncio"):  # a lost worker is replaced, with a remark here
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if form == "local":
            arguments: dict[str, Any] = {"address": stack.enter_context(processes(value))}
        else:
            arguments = {"scheduler_file" if form == "file" else "address": value}
        try:
            client = distributed.Client(**arguments, timeout=CONNECT_TIMEOUT, set_as_default=False, name="raystream")
        except (OSError, TimeoutError, ValueError, KeyError, TypeError) as error:  # the last: tls without certificates
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ViewerError(
                f"--cluster {cluster}", f"no scheduler answers ({reason})", "dask scheduler starts one"
            ) from error
        stack.callback(client.close)
        yield client


@contextmanager
def processes(count: int) -> Iterator[Any]:
    """A cluster of ``count`` worker processes on this machine, all started; one that dies is always replaced. Raises
    ViewerError where one dies at its start, again and again."""
    import dask.config
    import distributed

    from raystream.farm.nanny import MAX_DEATHS, PersistentNanny

    given_up = threading.Event()
    # After this time dask no longer replaces a process that has died again by then.
    without_timeout = dask.config.set({"distributed.deploy.lost-worker-timeout": "1000 days"})
    local = distributed.LocalCluster(
        n_workers=0,  # started below: interrupted in its constructor it would not be closed
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        # Its HTTP server cannot be switched off, and would take port 8787, with a warning for a second one.
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        memory_limit=None,
        silence_logs=logging.CRITICAL,
        env={name: os.environ.get(name, value) for name, value in ONE_THREAD.items()},
        preload=[PRELOAD],
        worker_class=PersistentNanny,
        given_up=given_up,
    )
    with without_timeout, local:
        local.scale(count)
        assert local.scheduler is not None
        while len(local.scheduler.workers) < count:
            if given_up.wait(CHECK_INTERVAL):
                what = f"its processes end as soon as they start, {MAX_DEATHS} times in a row"
                raise ViewerError("--cluster", what, "is there memory for them? fewer: local:N")
        yield local


def _parse_cluster(cluster: str) -> tuple[str, Any]:
    """("local", count), ("address", text) or ("file", path). Raises ViewerError for any other text."""
    match = re.fullmatch(r"local(?::(\d{1,6}))?", cluster)
    if match:
        count = int(match[1]) if match[1] else os.cpu_count() or 1
        if not 1 <= count <= MAX_LOCAL_WORKERS:
            raise ViewerError(f"--cluster {cluster}", f"expected 1 to {MAX_LOCAL_WORKERS} processes")
        return "local", count
    if _is_address(cluster):
        return "address", cluster
    if "://" in cluster or cluster.startswith("local:"):
        raise ViewerError(f"--cluster {cluster}", EXPECTED)
    return "file", _checked_scheduler_file(cluster)


def _checked_scheduler_file(path: str) -> str:
    """The path, after a look at the file: raises ViewerError unless it is JSON with a scheduler's address."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise ViewerError(path, error.strerror or "cannot be read", EXPECTED) from error
    except (ValueError, RecursionError) as error:
        raise ViewerError(path, "is not a scheduler's file", "dask scheduler --scheduler-file writes one") from error
    # A client given any other text as an address ends in dask's traceback.
    if not isinstance(content, dict) or not _is_address(content.get("address")):
        raise ViewerError(path, "has no scheduler's address", "dask scheduler --scheduler-file writes one")
    return path


def _is_address(text: object) -> bool:
    match = re.fullmatch(r"(?:tcp|tls|ws|wss|ucx)://\S+:(\d{1,5})", text) if isinstance(text, str) else None
    return match is not None and 0 < int(match[1]) < 65536
