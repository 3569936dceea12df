"""One cluster of two processes for all tests: they take seconds to start."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from raystream.farm.cluster import processes

pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """A scheduler with two workers, as somebody else has started it."""
    with ExitStack() as stack:
        with socket.socket() as other:
            with suppress(OSError):  # another process of the tests has it
                other.bind(("0.0.0.0", 8787))  # as another cluster's: a second one would warn
                other.listen()
            cluster = stack.enter_context(processes(2))
        yield cluster


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
