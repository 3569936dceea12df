"""Runs a command and prints its cost as JSON: wall and CPU seconds, peak memory in bytes, exit status.

A separate program with light imports: on Linux a child's peak memory starts at that of its forking process, so that a
large parent would hide it.

    python process.py COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import json
import os
import sys
import time

KIBIBYTES = sys.platform != "darwin"  # the unit of ru_maxrss


def run(command: list[str]) -> dict[str, float | int]:
    """Run to the end. Its standard output goes to standard error."""
    started = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
    _, status, usage = os.wait4(child, 0)
    return {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * (1024 if KIBIBYTES else 1),
        "status": os.waitstatus_to_exitcode(status),
    }


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1:])))
