"""One cluster of two processes for all tests: they take seconds to start."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from viewer.farm.cluster import ONE_THREAD

pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture(scope="session")
def local() -> Iterator[Any]:
    """A scheduler with two workers, as somebody else has started it."""
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        memory_limit=None,
        silence_logs=logging.CRITICAL,
        env=ONE_THREAD,
    )
    yield cluster
    cluster.close()


@pytest.fixture
def scheduler(local: Any) -> str:
    """Its address."""
    return str(local.scheduler_address)


@pytest.fixture
def scheduler_file(local: Any, tmp_path: Path) -> str:
    """The file that it would write."""
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps(local.scheduler.identity()))
    return str(path)
