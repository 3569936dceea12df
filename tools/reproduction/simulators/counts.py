"""Words and instructions of every kernel of a program, as the papers count them (Purcell 2004, tables 5.1, 5.3, 6.2).

Words: streams are those of the kernels' declarations: a pass reads the elements of ``IN`` and ``INOUT`` arguments, and
writes those of ``OUT`` and ``INOUT``. Random reads are the calls of ``fetch_<memory>`` in the kernel and in all
functions that it calls: each call in the text once, which is both arms of a branch and one iteration of a loop, so that
of data a call may need less (`raystream.stream.machines.counters` counts what real rays fetch). A word is 32 bits.

Machines: ``SIMD`` (multipass) is a pass for every call of a kernel, with all its streams, and the rays' state read and
written. ``MIMD`` (branching) is one pass: the program's inputs and results are all that it reads and writes, counted
for the state that rays begin in and for the last that ends them; it has no states. Programs are those of the papers
over a uniform grid, linked as their machines run them, without OpenGL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import raystream
from raystream.kernels.photons import ENTRY
from raystream.photons.grid import point_sources, sort_sources
from raystream.programs import PICTURES, traversal_states
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.stream.analysis.instructions import Instructions, count, plain_source, step_sources
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, Addresses, PlannedAddresses
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Table, Texels, Volume
from raystream.stream.declare.program import DONE, RETURN, State
from raystream.stream.gl.device import Device
from reproduction.published.chapter5 import KernelRow

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


# The kernels of table 5.1, and the states of each program that do their work: what is one kernel there may be several
# here, of which a surface's shading runs each once. The tracers' shadow caster goes through lights one by one, where
# the published one makes a single shadow ray; the ray that finds its light blocked is resolved by a state of its own.
ALL = ("cast", "shadow", "whitted", "path")
SHADING = ALL[1:]
PUBLISHED_KERNELS: dict[str, dict[str, tuple[str, ...]]] = {
    "Generate Eye Ray": {"cast": ("eye",), **dict.fromkeys(SHADING, ("begin",))},
    "Traverse: Setup": dict.fromkeys(ALL, ("setup",)),
    "Traverse: Step": dict.fromkeys(ALL, ("traverse",)),
    "Intersect": dict.fromkeys(ALL, ("intersect",)),
    "Shade: Color": {"cast": ("shade",), **dict.fromkeys(SHADING, ("arrive",))},
    "Shade: Shadow": dict.fromkeys(SHADING, ("light", "resolve")),
    "Shade: Reflected": {"whitted": ("reflect",)},
    "Shade: Path": {"path": ("scatter",)},
}
# As the papers have them: a grid, the published intersection test, random numbers from a texture.
RECIPE: dict[str, Any] = {"accel": "grid", "intersection": "moller-trumbore", "sampler": "table"}


def published_program(name: str = "cast", **options: Any) -> LinkedProgram:
    """A program of pictures of the Cornell box (``cast``, ``shadow``, ``whitted``, ``path``), a pass for every kernel.

    options : of `raystream.renderer.inputs.settings.Settings`, over `RECIPE`. Raises ViewerError.
    """
    settings = Settings().replace(**{**RECIPE, "program": name, **options})
    prepared = prepare(raystream.load("cornell"), settings)
    program = PICTURES[name](traversal_states(prepared.structure.levels, prepared.structure.tests_box))
    return LinkedProgram(program, prepared.modules(True, "film" in program.inputs, settings.sampler))


def kernel_rows(program: LinkedProgram, machine: str, counts: Mapping[str, Instructions]) -> dict[str, KernelRow]:
    """By the names of table 5.1, those that a program of pictures has; of several states that do a kernel's work the
    sum. counts : of its states."""
    found, own = {}, words(program, machine)
    for kernel, programs in PUBLISHED_KERNELS.items():
        if states := programs.get(program.program.name, ()):
            parts = [counts[state] for state in states]
            number = sum(each.several if machine == "SIMD" else each.branching for each in parts)
            found[kernel] = KernelRow(
                number, *(sum(column) for column in zip(*(own[state] for state in states), strict=True))
            )
    return found


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


# -- photon mapping: table 6.2 -----------------------------------------------------------------------------------------

MAPS = ("sort", "stencil")
ESTIMATE = ("shell", "cell", "photon")  # the states that are the published radiance estimate together
FOOTPRINT = 4  # texels along the side of a cell's, of the published setting


def listed_sort() -> Instructions:
    """Of the published listing of a step of the sort, by our rules. Raises `NoCompiler`."""
    return count((Path(__file__).parent / "listed_sort.glsl").read_text(encoding="utf-8"))


def photon_instructions(device: Device) -> dict[str, Instructions]:
    """One iteration, by the names of table 6.2; the parts of the estimates beside, as ``shell (sort)``: the next shell
    of cells, the next cell of it, the next photon. Raises `NoCompiler` without glslangValidator."""
    sources = dict(sort_sources())
    found = {
        "Bitonic Sort": count(plain_source(sources["sort"]).text),
        "Binary Search": count(plain_source(sources["search"]).text),
        "Stencil Routing": count(plain_source(point_sources("route_fragment", ENTRY, FOOTPRINT)[0]).text, "vert"),
    }
    for kind in MAPS:
        settings: dict[str, Any] = {"program": "photon", "estimate": "published", "photon_map": kind}
        renderer = Renderer(raystream.load("glass_ball"), device=device, **settings)
        linked = renderer.gpu_scene.bind(renderer.program(), renderer.settings, True)
        whole = Instructions()
        for step in linked.steps("none"):
            if step.name in ESTIMATE:
                source = plain_source(fragment(linked, step, Form(scheduled=True), renderer.gpu_scene.resources))
                kernel = linked.program.by_name[step.name].kernel.name
                found[f"{step.name} ({kind})"] = each = count(source.text, "frag", kernel)
                whole = whole + each
        found[f"Rad. Estimate ({kind})"] = whole
        renderer.release()
    return found
