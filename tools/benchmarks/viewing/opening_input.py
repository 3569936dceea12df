"""Moves the pointer of an X server at a steady rate, each move to a place of its own; ended by the end of its input.

    python opening_input.py STAMPS LEFT TOP

STAMPS is a file to which the time of each move is written as float64, seconds of the monotonic clock, before it is
sent. A separate process with light imports: what moves the pointer must not wait for the window that it measures.
"""

from __future__ import annotations

import ctypes
import select
import struct
import sys
import time

PERIOD = 0.01  # seconds between two moves
COLUMNS, ROWS = 256, 128  # places in turn, from the upper left one


def place(number: int) -> tuple[int, int]:
    """Where a move goes, pixels from the first place."""
    return number % COLUMNS, number // COLUMNS % ROWS


def number(x: float, y: float, least: int) -> int:
    """The move to that place: of those with it, the first from ``least`` on."""
    found, cycle = round(y) * COLUMNS + round(x), COLUMNS * ROWS
    return found + max(0, -(-(least - found) // cycle)) * cycle


def main(stamps: str, left: str, top: str) -> None:
    """Move it until standard input ends."""
    x11, xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    if not display:
        sys.exit("no display")
    sent, due = 0, time.monotonic()
    with open(stamps, "wb", buffering=0) as written:
        while not select.select([0], [], [], max(0.0, due - time.monotonic()))[0]:
            x, y = place(sent)
            written.write(struct.pack("=d", time.monotonic()))
            xtst.XTestFakeMotionEvent(display, -1, int(left) + x, int(top) + y, ctypes.c_ulong(0))
            x11.XFlush(display)
            sent, due = sent + 1, due + PERIOD


if __name__ == "__main__":
    main(*sys.argv[1:])
