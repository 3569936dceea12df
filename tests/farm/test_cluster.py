"""The workers of a cluster: how they are named and reached. Processes on this machine: one that dies is replaced,
however often; and schedulers that want certificates."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask.config
import distributed
import pytest
from distributed.core import Status

import raystream
from raystream.farm import cluster as module
from raystream.farm import nanny
from raystream.farm.cluster import _parse_cluster, check_cluster, connected, processes
from raystream.farm.nanny import MAX_DEATHS, PersistentNanny


@pytest.mark.slow
def test_processes_that_die_again_and_again_are_all_replaced() -> None:
    """For longer than the 15 seconds after which dask looks whether one that died is back, and finds it dead again."""
    with processes(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        began = time.monotonic()
        while time.monotonic() - began < 25:
            client.wait_for_workers(2, timeout=60)
            time.sleep(0.5)
            pids = list(client.run(os.getpid, on_error="ignore").values())  # one may be gone already
            os.kill(pids[0], signal.SIGKILL)
            time.sleep(0.2)
        client.wait_for_workers(2, timeout=60)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_scheduler_behind_tls(tmp_path: Path) -> None:
    """By the environment that the farm's page shows; without a certificate nobody is let in."""
    certificate, key = str(tmp_path / "me.pem"), str(tmp_path / "me.key")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=raystream", "-days", "1"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    files = {"cert": certificate, "key": key}
    given = {
        "REQUIRE_ENCRYPTION": "True",
        "TLS__CA_FILE": certificate,
        "TLS__CLIENT__CERT": certificate,
        "TLS__CLIENT__KEY": key,
    }
    environment = dask.config.collect_env({f"DASK_DISTRIBUTED__COMM__{name}": value for name, value in given.items()})
    parts = {f"tls_{part}_{kind}": path for part in ("scheduler", "client") for kind, path in files.items()}
    security = distributed.Security(require_encryption=True, tls_ca_file=certificate, **parts)
    free = "127.0.0.1:0"  # any port: the default one's may be another process's of the tests
    with distributed.LocalCluster(
        n_workers=0, protocol="tls://", security=security, dashboard_address=free, processes=False
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with dask.config.set(dask.config.merge(dask.config.config, environment)), connected(address) as client:
            assert client.scheduler_info()["address"] == address
        with pytest.raises(raystream.ViewerError, match="no scheduler answers"), connected(address):
            raise AssertionError


# -- how a cluster is named --------------------------------------------------------------------------------------------

EXPECTED = "expected local, local:N, tcp://HOST:PORT or a scheduler's file"


@pytest.mark.parametrize(
    ("cluster", "count"),
    [("local", 7), ("local:1", 1), ("local:2", 2), ("local:016", 16), ("local:256", 256), ("local:000256", 256)],
)
def test_processes_of_this_machine(cluster: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as cores, or as are asked for."""
    monkeypatch.setattr(module.os, "cpu_count", lambda: 7)
    assert _parse_cluster(cluster) == ("local", count)


def test_cores_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "cpu_count", lambda: None)
    assert _parse_cluster("local") == ("local", 1)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 257)
    with pytest.raises(raystream.ViewerError, match="expected 1 to 256 processes"):
        _parse_cluster("local")


@pytest.mark.parametrize("scheme", ["tcp", "tls", "ws", "wss", "ucx"])
@pytest.mark.parametrize("rest", ["head:8786", "192.0.2.1:1", "[::1]:65535", "a.b-c:08786"])
def test_addresses(scheme: str, rest: str) -> None:
    assert _parse_cluster(f"{scheme}://{rest}") == ("address", f"{scheme}://{rest}")


@pytest.mark.parametrize(
    ("cluster", "what"),
    [
        ("local:0", "expected 1 to 256 processes"),
        ("local:257", "expected 1 to 256 processes"),
        ("local:999999", "expected 1 to 256 processes"),
        ("local:1000000", EXPECTED),
        ("local:", EXPECTED),
        ("local:-1", EXPECTED),
        ("local:2x", EXPECTED),
        ("local: 2", EXPECTED),
        ("tcp://head:0", EXPECTED),
        ("tcp://head:65536", EXPECTED),
        ("tcp://head:123456", EXPECTED),
        ("tcp://head", EXPECTED),
        ("tcp://:8786", EXPECTED),
        ("tcp://he ad:8786", EXPECTED),
        ("tcp://head:8786/more", EXPECTED),
        ("udp://head:8786", EXPECTED),
        ("xtcp://head:8786", EXPECTED),
        ("inproc://head:8786", EXPECTED),
    ],
)
def test_names_of_no_cluster(cluster: str, what: str) -> None:
    with pytest.raises(raystream.ViewerError) as caught:
        check_cluster(cluster)
    assert caught.value.typed == f"--cluster {cluster}: {what}"


@pytest.mark.parametrize("name", ["Local", "local8", "head:8786", "nowhere", "a/local:1"])
def test_anything_else_is_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(raystream.ViewerError) as caught:
        check_cluster(name)
    assert caught.value.typed == f"{name}: No such file or directory ({EXPECTED})"
    (tmp_path / "a").mkdir()
    (tmp_path / name).write_text('{"address": "tcp://head:8786", "more": 1}')
    check_cluster(name)
    assert _parse_cluster(name) == ("file", name)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "is not a scheduler's file"),
        (b"{", "is not a scheduler's file"),
        (b"\xff\xfe", "is not a scheduler's file"),
        (b"[" * 100_000, "is not a scheduler's file"),
        (b"[]", "has no scheduler's address"),
        (b"{}", "has no scheduler's address"),
        (b'"tcp://head:8786"', "has no scheduler's address"),
        (b'{"address": null}', "has no scheduler's address"),
        (b'{"address": ["tcp://head:8786"]}', "has no scheduler's address"),
        (b'{"address": "head:8786"}', "has no scheduler's address"),
        (b'{"address": "tcp://head:65536"}', "has no scheduler's address"),
    ],
)
def test_files_of_no_scheduler(text: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    path.write_bytes(text)
    with pytest.raises(raystream.ViewerError) as caught:
        check_cluster(str(path))
    assert caught.value.typed == f"{path}: {what} (dask scheduler --scheduler-file writes one)"
    with pytest.raises(raystream.ViewerError) as caught:
        check_cluster(str(tmp_path))
    assert caught.value.typed.startswith(f"{tmp_path}: ") and caught.value.typed.endswith(f"({EXPECTED})")


def test_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is told after what is wrong with the name."""
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "distributed" else object())
    with pytest.raises(raystream.ViewerError) as caught:
        check_cluster("tcp://head:8786")
    line = "--cluster: dask.distributed is not installed (pip install 'raystream[farm]')"
    assert caught.value.typed == line
    with pytest.raises(raystream.ViewerError, match="expected local"):
        check_cluster("local:x")


# -- how it is reached -------------------------------------------------------------------------------------------------


class Client:
    """In place of dask's: what it was given, and whether it was closed."""

    made: list[Client]
    error: BaseException | None = None

    def __init__(self, **given: Any) -> None:
        if self.error is not None:
            raise self.error
        self.given, self.closed = given, 0
        self.made.append(self)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[Client]:
    """Those that were made. Processes of this machine are a word, and noted when they begin and end."""
    monkeypatch.setattr(Client, "made", [], raising=False)
    monkeypatch.setattr(distributed, "Client", Client)
    return Client.made


def test_how_a_scheduler_is_asked(clients: list[Client], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At its address, by its file, or processes that are started; it is left and they end, also after an error."""
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps({"address": "tcp://head:8786"}))
    events: list[Any] = []

    @contextmanager
    def started(count: int) -> Any:
        events.append(count)
        yield "processes"
        events.append(("end", clients[-1].closed))

    monkeypatch.setattr(module, "processes", started)
    common = {"timeout": 5.0, "set_as_default": False, "name": "raystream"}
    for cluster, given in (
        ("tcp://head:8786", {"address": "tcp://head:8786"}),
        (str(path), {"scheduler_file": str(path)}),
        ("local:3", {"address": "processes"}),
    ):
        with connected(cluster) as client:
            assert client is clients[-1] and clients[-1].given == {**given, **common} and not clients[-1].closed  # type: ignore[comparison-overlap]
        assert clients[-1].closed == 1
    assert events == [3, ("end", 1)], "the client is closed first"
    with pytest.raises(KeyError), connected("tcp://head:8786"):
        raise KeyError
    assert clients[-1].closed == 1
    for name in ("distributed", "distributed.client", "asyncio"):
        assert logging.getLogger(name).level == logging.CRITICAL, "a lost worker's traceback is nobody's"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("Timed out  trying\nto connect"), "Timed out trying to connect"),
        (TimeoutError(), "TimeoutError"),
        (ValueError("unknown protocol"), "unknown protocol"),
        (KeyError("address"), "'address'"),
        (TypeError("TLS expects a `ssl_context`"), "TLS expects a `ssl_context`"),
    ],
)
def test_schedulers_that_do_not_answer(
    clients: list[Client], monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    monkeypatch.setattr(Client, "error", error)
    with pytest.raises(raystream.ViewerError) as caught, connected("tcp://head:8786"):
        raise AssertionError
    line = f"--cluster tcp://head:8786: no scheduler answers ({reason}) (dask scheduler starts one)"
    assert caught.value.typed == line and caught.value.__cause__ is error
    monkeypatch.setattr(Client, "error", RuntimeError("a fault of the program"))
    with pytest.raises(RuntimeError, match="a fault of the program"), connected("tcp://head:8786"):
        raise AssertionError


class LocalCluster:
    """In place of dask's: each look at its workers finds one more of those that it was scaled to, up to ``most``."""

    made: list[LocalCluster]
    most = 256

    def __init__(self, **given: Any) -> None:
        self.given, self.scaled, self.ended = given, None, 0
        self.begun = 0
        self.timeout = dask.config.get("distributed.deploy.lost-worker-timeout")
        self.made.append(self)

    def __enter__(self) -> LocalCluster:
        self.kept = dask.config.get("distributed.deploy.lost-worker-timeout")
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended += 1

    def scale(self, count: int) -> None:
        self.scaled = count  # type: ignore[assignment]

    @property
    def scheduler(self) -> Any:
        self.begun = min(self.begun + 1, self.most)
        if self.begun == self.most:
            self.given["given_up"].set()
        return SimpleNamespace(workers=[None] * self.begun)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[LocalCluster]:
    monkeypatch.setattr(LocalCluster, "made", [], raising=False)
    monkeypatch.setattr(distributed, "LocalCluster", LocalCluster)
    monkeypatch.setattr(module, "CHECK_INTERVAL", 0.001)
    for name in module.ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    return LocalCluster.made


def test_how_processes_are_started(started: list[LocalCluster], monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them work before they are given; places of those that die are kept for ever, while they are used. One
    thread each, unless their user has said otherwise."""
    option = "distributed.deploy.lost-worker-timeout"
    with dask.config.set({option: "15 s"}):  # workers of the fixtures of other files may still be there, with theirs
        with processes(3) as cluster:
            assert started == [cluster] and cluster.scaled == 3 and cluster.begun >= 3 and not cluster.ended
            assert cluster.kept == "1000 days" == dask.config.get(option)
        assert cluster.ended == 1 and dask.config.get(option) == "15 s"
    given = dict(cluster.given)
    assert isinstance(given.pop("given_up"), threading.Event)
    assert given == {
        "n_workers": 0,
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": None,
        "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},
        "memory_limit": None,
        "silence_logs": logging.CRITICAL,
        "env": {"LP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "DASK_LOGGING__DISTRIBUTED": "critical"},
        "preload": ["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
        "worker_class": PersistentNanny,
    }
    monkeypatch.setenv("LP_NUM_THREADS", "3")
    with processes(1) as cluster:
        assert cluster.given["env"] == {**given["env"], "LP_NUM_THREADS": "3"}


def test_processes_that_never_start(started: list[LocalCluster], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of them is left."""
    monkeypatch.setattr(LocalCluster, "most", 2)
    with pytest.raises(raystream.ViewerError) as caught, processes(3):
        raise AssertionError
    what = "its processes end as soon as they start, 5 times in a row"
    assert caught.value.typed == f"--cluster: {what} (is there memory for them? fewer: local:N)"
    assert [cluster.ended for cluster in started] == [1]
    with processes(2):
        pass
    with pytest.raises(KeyError), processes(1):
        raise KeyError
    assert [cluster.ended for cluster in started] == [1, 1, 1]


DIED = RuntimeError("Nanny failed to start.")


@pytest.mark.parametrize(
    ("answers", "wanted", "given_up"),
    [
        ([Status.running], Status.running, False),
        ([DIED, Status.running], Status.running, False),
        ([Status.failed, DIED, Status.closed, Status.failed, Status.running], Status.running, False),
        ([DIED] * 4 + [Status.failed, Status.running], Status.failed, True),
        ([Status.failed] * 5 + [Status.running], Status.failed, True),
    ],
)
def test_a_process_that_dies_at_its_start(
    monkeypatch: pytest.MonkeyPatch, answers: list[Any], wanted: Status, given_up: bool
) -> None:
    """It is started again, five times in all; then somebody is told."""
    left = list(answers)

    async def instantiate(self: Any) -> Status:
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    event, made = keeper(monkeypatch, Status.starting)
    monkeypatch.setattr(distributed.Nanny, "instantiate", instantiate)
    assert asyncio.run(made.instantiate()) == wanted
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert event.is_set() is given_up and len(answers) - len(left) == min(len(answers), MAX_DEATHS) and MAX_DEATHS == 5


@pytest.mark.parametrize("status", [Status.closing, Status.closed, Status.closing_gracefully])
def test_a_process_that_is_to_end(monkeypatch: pytest.MonkeyPatch, status: Status) -> None:
    """Is not started again, and nobody is told."""
    begun: list[int] = []

    async def instantiate(self: Any) -> Status:
        begun.append(1)
        raise DIED

    event, made = keeper(monkeypatch, status)
    monkeypatch.setattr(distributed.Nanny, "instantiate", instantiate)
    assert asyncio.run(made.instantiate()) == Status.failed and begun == [1] and not event.is_set()


def test_starts_leave_the_user_s_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several at once: the environment, into which dask puts the processes' own, and whether Ctrl-C comes through."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    inside: list[tuple[bool, str | None]] = []

    async def instantiate(self: Any) -> Status:
        os.environ.update(self.pre_spawn_env)
        await asyncio.sleep(0.01 * (1 + len(inside)))
        inside.append((signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()), os.environ["PYTHONSAFEPATH"]))
        return Status.running

    keepers = [keeper(monkeypatch, Status.starting)[1] for _ in range(3)]
    monkeypatch.setattr(distributed.Nanny, "instantiate", instantiate)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)

    async def together() -> list[Status]:
        return await asyncio.gather(*(each.instantiate() for each in keepers))

    assert asyncio.run(together()) == [Status.running] * 3 and inside == [(True, "1")] * 3
    assert "PYTHONSAFEPATH" not in os.environ
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def keeper(monkeypatch: pytest.MonkeyPatch, status: Status) -> tuple[threading.Event, PersistentNanny]:
    """One of a status, and the event by which it tells that it gives up."""
    given: list[Any] = []

    def begin(self: Any, *args: Any, **options: Any) -> None:
        given.append((args, options))
        self.pre_spawn_env = {"PYTHONHASHSEED": "6640"}

    monkeypatch.setattr(distributed.Nanny, "__init__", begin)
    monkeypatch.setattr(nanny.PersistentNanny, "__del__", lambda self: None, raising=False)
    monkeypatch.setattr(nanny.PersistentNanny, "status", status)
    event = threading.Event()
    made = PersistentNanny("tcp://head:8786", given_up=event, nthreads=1)
    assert given == [(("tcp://head:8786",), {"nthreads": 1})]
    assert made.pre_spawn_env == {"PYTHONHASHSEED": "6640", "PYTHONSAFEPATH": "1"}  # no code of the current folder
    return event, made
