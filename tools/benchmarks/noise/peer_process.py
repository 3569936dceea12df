"""The process of a peer, see `peers`: loads a scene, then renders a picture per line of standard input.

    python -m benchmarks.noise.peer_process JOB

Requests and answers are lines of JSON; the renderer's own output goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from typing import Any, TextIO

import numpy as np

from benchmarks.noise.peers import Job, Missing, Peer

PHASES = ("import", "scene", "first picture")


def main(text: str) -> None:
    """Serve requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    fields = json.loads(text)
    job = Job(**{**fields, "size": tuple(fields["size"])})
    at = [time.perf_counter()]
    try:
        module = import_module(f"benchmarks.noise.{job.module}")
        module.load(job)
        at.append(time.perf_counter())
        peer: Peer = module.make(job)
        at.append(time.perf_counter())
        peer.render(1, 0)
        at.append(time.perf_counter())
    except Missing as error:
        _send(answers, {"missing": str(error)})
        return
    _send(answers, {"version": peer.version, "phases": dict(zip(PHASES, np.diff(at).tolist(), strict=True))})
    seen: set[int] = set()
    for line in sys.stdin:
        wish = json.loads(line)
        if peer.compiles and wish["samples"] not in seen:
            peer.render(wish["samples"], 0)
            seen.add(wish["samples"])
        wall, cpu = time.perf_counter(), time.process_time()
        samples = peer.render(wish["samples"], wish["seed"])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        np.save(wish["out"], peer.picture())
        _send(answers, {"samples": samples, "seconds": wall, "cpu_seconds": cpu})


def _send(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
