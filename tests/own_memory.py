"""Memory of this process as tests may compare it, whatever the system takes away meanwhile."""

from __future__ import annotations

from pathlib import Path

STATUS = Path("/proc/self/status")


def own_memory() -> int:
    """Bytes that are this process's own: resident or swapped. Pages of mapped files, such as the driver's code, do not
    count: a system that is short of memory drops them, and reads them again."""
    lines = [line.split() for line in STATUS.read_text().splitlines()]
    return 1024 * sum(int(line[1]) for line in lines if line[0] in ("RssAnon:", "RssShmem:", "VmSwap:"))
