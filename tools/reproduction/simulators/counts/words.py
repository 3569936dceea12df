"""Words that every kernel of a program reads and writes between passes and fetches at random, and its states.

Streams are those of the kernels' declarations: a pass reads the elements of ``IN`` and ``INOUT`` arguments, and writes
those of ``OUT`` and ``INOUT``. Random reads are the calls of ``fetch_<memory>`` in the kernel and in all functions that
it calls: each call in the text once, which is both arms of a branch and one iteration of a loop, so that of data a call
may need less (`raystream.stream.machines.counters` counts what real rays fetch). A word is 32 bits.

Machines: ``SIMD`` (multipass) is a pass for every call of a kernel, with all its streams, and the rays' state read and
written. ``MIMD`` (branching) is one pass: the program's inputs and results are all that it reads and writes, counted
for the state that rays begin in and for the last that ends them; it has no states.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from raystream.stream.analysis.instructions import step_sources
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, Addresses, PlannedAddresses
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Table, Texels, Volume
from raystream.stream.declare.program import DONE, RETURN, State

MACHINES = ("SIMD", "MIMD")
STATE_NUMBERS = 2  # of a ray: its state, and the one that it returns to

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"^[ \t]*(?!else\b|return\b)\w+[ \t]+(\w+)\s*\(([^;{}]*)\)\s*\{", re.MULTILINE)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


class Words(NamedTuple):
    """Of one call of a kernel: 32-bit words read and written between passes and fetched at random; 8-bit states read
    and written (a byte each)."""

    read: float
    written: float
    random: float
    state_read: float = 0
    state_written: float = 0

    @property
    def bytes(self) -> float:
        """All of it, 4 bytes a word and 1 a state."""
        return 4 * (self.read + self.written + self.random) + self.state_read + self.state_written


def words(
    program: LinkedProgram, machine: str = "SIMD", padded: bool = False, addresses: Addresses | None = None
) -> dict[str, Words]:
    """Of every state of a linked program, one call.

    machine : of `MACHINES`. padded : texels of four words as they lie in textures, and states of 32 bits (8 bytes for
    a state and the one that it returns to), in place of the words that hold something, and 8-bit states.
    Raises ValueError for another machine.
    """
    if machine not in MACHINES:
        raise ValueError(f"machine '{machine}', one of {', '.join(MACHINES)}")
    fetched = random_reads(program, padded, addresses)
    first, last = _ends(program)
    found = {}
    for state in program.program.states:
        if machine == "SIMD":
            loads, stores, own = state.reads(), state.writes(), STATE_NUMBERS * (4 if padded else 1)
        else:
            loads = program.program.inputs if state.name == first else ()
            stores, own = program.program.results if state.name == last else (), 0
        read, written = (sum(_stream(program, each, padded) for each in streams) for streams in (loads, stores))
        found[state.name] = Words(read, written, fetched[state.name], own, own)
    return found


def _ends(program: LinkedProgram) -> tuple[str, str]:
    """The state that rays begin in, and the last one that ends them."""
    start = program.program.start
    first, then = (start, None) if isinstance(start, str) else (start.state, start.then)
    ends = (DONE, RETURN) if then is DONE else (DONE,)
    last = [state.name for state in program.program.states if any(target in ends for target in state.exits.values())]
    return first, last[-1]


def _stream(program: LinkedProgram, stream: str, padded: bool) -> int:
    record = program.records[stream]
    return 4 * record.texels if padded else record.scalars


# -- random reads --------------------------------------------------------------------------------------------------


def random_reads(program: LinkedProgram, padded: bool = False, addresses: Addresses | None = None) -> dict[str, int]:
    """Words fetched at random by a call of every state, by the texts of the generated programs."""
    found = {}
    for name, source in step_sources(program, addresses):
        state = program.program.by_name[name]
        sizes = _sizes(program, state, padded, addresses)
        calls = calls_within(source, state.kernel.name)
        found[name] = sum(times * sizes[called] for called, times in calls.items() if called in sizes)
    return found


def _sizes(program: LinkedProgram, state: State, padded: bool, addresses: Addresses | None) -> dict[str, int]:
    """By the name of the function that fetches it: words of an element, of every memory of the state's modules."""
    placed = addresses or PlannedAddresses(MAX_ROW_TEXELS)
    sizes = {}
    for module in program.modules_for([state.kernel]):
        for memory in module.memories:
            if isinstance(memory, Volume | Texels):
                size = 1
            elif not padded:
                size = memory.record.scalars
            elif isinstance(memory, Table) and memory.hot:
                size = memory.record.texels * placed.layout(memory).channels
            else:
                size = 4 * memory.record.texels
            sizes[f"fetch_{memory.name}"] = size
    for argument in state.kernel.gathered:
        sizes[f"fetch_{argument.name}"] = _stream(program, state.stream_of(argument.name), padded)
    return sizes


def calls_within(source: Source, function: str) -> Counter[str]:
    """How often each function is called by one call of a function of a program: calls in the text, each once."""
    text = _COMMENT.sub(" ", source.text)
    bodies: dict[str, list[str]] = {}
    for match in _FUNCTION.finditer(text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        bodies.setdefault(match.group(1), []).append(text[match.end() : end])
    known: dict[str, Counter[str]] = {}

    def total(name: str) -> Counter[str]:
        if name not in known:
            known[name] = Counter()  # GLSL has no recursion
            # Of functions of one name that differ in their arguments, the one that calls most.
            each = []
            for body in bodies[name]:
                count: Counter[str] = Counter()
                for called in _CALL.findall(body):
                    count[called] += 1
                    if called in bodies:
                        count += total(called)
                each.append(count)
            known[name] = max(each, key=lambda count: sum(count.values()))
        return known[name]

    return total(function)
