"""Which kernels of a program are longer than the hardware of the papers' day took (`viewer.stream.declare.limits`)."""

from __future__ import annotations

from viewer.stream.analysis.instructions import instructions
from viewer.stream.analysis.spirv import NoCompiler
from viewer.stream.compile.addresses import Addresses
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.limits import LIMITS


def too_long(linked: LinkedProgram, year: str, addresses: Addresses | None = None) -> list[str]:
    """The kernels, a pass each, that have more arithmetic instructions or more levels of dependent fetches than the
    limits of that year: "shade (97 instructions of 64)". year : of `LIMITS`.

    Raises `NoCompiler` without glslangValidator, which counts need.
    """
    limits, found = LIMITS[year], []
    for name, each in instructions(linked, addresses=addresses).items():
        arithmetic = each.all - each.textures
        over = [f"{arithmetic} instructions of {limits.instructions}"] if arithmetic > limits.instructions else []
        if each.levels > limits.fetches:
            over.append(f"{each.levels} levels of fetches of {limits.fetches}")
        if over:
            found.append(f"{name} ({', '.join(over)})")
    return found


def remarks(linked: LinkedProgram, year: str, addresses: Addresses | None = None) -> list[str]:
    """What to tell who renders by the limits of a year: a line on what is beyond them and runs all the same; none
    without limits, or where all fits."""
    if year not in LIMITS:
        return []
    try:
        long = too_long(linked, year, addresses)
    except NoCompiler as error:
        return [f"--limits {year}: lengths of programs are not looked at: {error}"]
    if not long:
        return []
    return [f"--limits {year}: too long for a program of then, and run all the same: {', '.join(long)}"]
