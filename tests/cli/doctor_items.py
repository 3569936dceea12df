"""Items of the doctor's tests: one that answers, and those that kill their process or never end."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from raystream.cli.doctor import Item

CODE = """
sys.path.insert(0, {folder!r})
import doctor_items
from raystream.cli import doctor
doctor.items = lambda: doctor_items.ITEMS
doctor.run_items(sys.argv[1])
"""


def _answer(subject: Any) -> dict[str, Any]:
    print("a driver's own words")  # are none of the child's
    return {"verdict": "pass", "text": "", "figures": {"number": float("nan"), "pid": os.getpid()}}


def _die(subject: Any) -> dict[str, Any]:
    print("last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def _leave(subject: Any) -> dict[str, Any]:
    os._exit(3)


def _hang(subject: Any) -> dict[str, Any]:
    time.sleep(1000)
    return {}


def _raise(subject: Any) -> dict[str, Any]:
    raise ValueError("no")


def _cached(subject: Any) -> dict[str, Any]:
    return {"verdict": "pass", "text": os.environ.get("MESA_SHADER_CACHE_DISABLE", "false")}


ITEMS = {
    item.key: item
    for item in (
        Item("masks", "first", _answer),
        Item("masks", "dies", _die),
        Item("masks", "raises", _raise),
        Item("masks", "hangs", _hang),
        Item("pictures", "cold", _cached, cold=True),
        Item("pictures", "leaves", _leave),
        Item("pictures", "last", _answer),
    )
}
