"""The workers of a cluster: how they are named and reached. Processes on this machine: one that dies is replaced,
however often; and schedulers that want certificates."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import dask.config
import distributed
import pytest
from distributed.core import Status

import raystream
from raystream.farm import cluster as module
from raystream.farm import nanny
from raystream.farm.cluster import _parse_cluster, check_cluster, connected, processes
from raystream.farm.nanny import PersistentNanny


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


@pytest.mark.parametrize("scheme", ["tcp", "tls", "ws", "wss", "ucx"])
@pytest.mark.parametrize("rest", ["head:8786", "192.0.2.1:1", "[::1]:65535", "a.b-c:08786"])
def test_addresses(scheme: str, rest: str) -> None:
    assert _parse_cluster(f"{scheme}://{rest}") == ("address", f"{scheme}://{rest}")


@pytest.mark.parametrize(
    ("cluster", "what"),
    [
        ("local:0", "expected 1 to 256 processes"),
        ("local:257", "expected 1 to 256 processes"),
        ("local:1000000", EXPECTED),
        ("local:", EXPECTED),
        ("local:2x", EXPECTED),
        ("tcp://head:0", EXPECTED),
        ("tcp://head:65536", EXPECTED),
        ("tcp://head", EXPECTED),
        ("tcp://:8786", EXPECTED),
        ("tcp://head:8786/more", EXPECTED),
        ("udp://head:8786", EXPECTED),
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
        (b"{", "is not a scheduler's file"),
        (b"\xff\xfe", "is not a scheduler's file"),
        (b"[" * 100_000, "is not a scheduler's file"),
        (b"[]", "has no scheduler's address"),
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


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("Timed out  trying\nto connect"), "Timed out trying to connect"),
        (TimeoutError(), "TimeoutError"),
        (ValueError("unknown protocol"), "unknown protocol"),
        (TypeError("TLS expects a `ssl_context`"), "TLS expects a `ssl_context`"),
    ],
)
def test_schedulers_that_do_not_answer(monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str) -> None:
    def refuse(**_: Any) -> None:
        raise errors.pop(0)

    errors = [error, RuntimeError("a fault of the program")]
    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(raystream.ViewerError) as caught, connected("tcp://head:8786"):
        raise AssertionError
    line = f"--cluster tcp://head:8786: no scheduler answers ({reason}) (dask scheduler starts one)"
    assert caught.value.typed == line and caught.value.__cause__ is error
    with pytest.raises(RuntimeError, match="a fault of the program"), connected("tcp://head:8786"):
        raise AssertionError


def test_how_processes_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places of those that die are kept for ever, while they are used; one thread each, unless their user has said
    otherwise, and none heeds Ctrl-C. After an error they end, too."""
    option, seen = "distributed.deploy.lost-worker-timeout", ("LP_NUM_THREADS", "NUMBA_NUM_THREADS")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setenv("LP_NUM_THREADS", "3")

    def environment() -> tuple[list[str | None], bool]:
        return [os.environ.get(name) for name in seen], signal.getsignal(signal.SIGINT) == signal.SIG_IGN

    # Workers of the fixtures of other files may still be there, with their time.
    with dask.config.set({option: "15 s"}):
        with (
            pytest.raises(KeyError),
            processes(1) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            assert dask.config.get(option) == "1000 days" and [*client.nthreads().values()] == [1]
            assert [*client.run(environment).values()] == [(["3", "1"], True)]
            raise KeyError
        assert cluster.status == Status.closed and dask.config.get(option) == "15 s"


DIED = RuntimeError("Nanny failed to start.")


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
