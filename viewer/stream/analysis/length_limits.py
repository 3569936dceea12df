"""Kernels beyond the program lengths of the papers' hardware (`viewer.stream.declare.limits`)."""

from __future__ import annotations

from viewer.stream.analysis.instructions import instructions
from viewer.stream.analysis.spirv import NoCompiler
from viewer.stream.compile.addresses import Addresses
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.declare.limits import LIMITS


def too_long(linked: LinkedProgram, year: str, addresses: Addresses | None = None) -> list[str]:
    """The kernels, as one pass each, beyond the limits of ``year`` (of `LIMITS`) in arithmetic instructions or levels
    of dependent fetches: "shade (97 instructions of 64)".

    Raises `NoCompiler` without glslangValidator, the compiler behind the counts.
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
    """Warnings for a render under the limits of a year: a line on kernels too long, which run all the same; none
    without limits, or where all fit."""
    if year not in LIMITS:
        return []
    try:
        long = too_long(linked, year, addresses)
    except NoCompiler as error:
        return [f"--limits {year}: program lengths are not checked: {error}"]
    if not long:
        return []
    return [f"--limits {year}: kernels too long for its programs, run all the same: {', '.join(long)}"]
