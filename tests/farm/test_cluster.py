"""Processes on this machine: one that dies is replaced, however often; and schedulers that want certificates."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import dask.config
import distributed
import pytest

import viewer
from viewer.farm.cluster import connected, processes


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
    """By the environment that the README shows; without a certificate nobody is let in."""
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
        with pytest.raises(viewer.ViewerError, match="no scheduler answers"), connected(address):
            raise AssertionError
