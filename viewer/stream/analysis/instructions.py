"""Instruction counts of generated programs, in a vector instruction set of 2002 to 2004 with the rules below.

The machine has registers of four floats. An instruction works on up to four components of one value, read with any
swizzle, sign or absolute value, and written under a mask and a condition code. These are NVIDIA's vertex and fragment
programs, in which the papers counted (Purcell et al. 2002, section 3.2: that set "plus a few"). Numbers are floats;
there are no integers and no bits. The count is that of an optimising compiler of the day:
`raystream.stream.analysis.graph` inlines functions, merges equal values, and drops unused ones.

One instruction each
    add, subtract, multiply of a scalar or of a vector (ADD, MUL); multiply and add where the product is used by that
    sum alone (MAD); dot product (DP3, DP4); minimum, maximum (MIN, MAX); linear interpolation (LRP); floor, ceiling,
    fraction (FLR, FRC); a comparison that makes a value (SLT, SGE); a select (CMP); and, or (MUL, MAX); any, all
    (DP4); reciprocal, reciprocal root, sine, cosine, power and logarithm to the base of 2, of each component apart
    (RCP, RSQ, SIN, COS, EX2, LG2); a derivative; a texture fetch (TEX); discard (KIL); an index into an array (ARL).
Several
    cross product 2; division: a reciprocal of each divisor and a product, by a constant the product alone; square root
    2 (RSQ, RCP); length 3, normalize 3 (DP3, RSQ, MUL), together 4; reflect 3; pow 3; exp, log 2; clamp 2; remainder
    ``x - y floor(x / y)`` 4, by a constant 3; to a whole number (truncation) 1; quotient of whole numbers: a division
    and a floor; shift by a constant 1 to the left, 2 to the right; ``& (2^n - 1)`` 3; round 2; sign 2; step 1;
    smoothstep 6; matrix times vector: a dot product for each row; refract 9; inverse trigonometric functions by
    polynomials: asin, acos 6, atan 9, atan2 13 of each component; determinant and inverse of 3 x 3: 3 and 8, of
    4 x 4: 12 and 24.
None
        sign, absolute value, swizzles and writes to parts of vectors; clamp to 0 .. 1 (the suffix _SAT); conversions of
        integers to floats, and of texels to integers, already integral; a comparison with zero used only to select or
        branch (CMP and condition codes compare with zero); the choice of 1 or 0 by a comparison; a value of one arm of
        a branch joined with the other's (a masked write; a mere move is one MOV); the fragment's own position; sizes of
        textures (a constant of the program); constant expressions.
Bits
        or, exclusive or, other masks and all other bit operations count one each, and are listed apart: no machine of
        the day has them.
Branches
        both arms count; a loop counts one iteration. A branching machine (MIMD) counts one more (BRA) for a loop and
        for a branch with a fetching arm; other branches, and all on a machine without branches (SIMD), are masks.

Addresses are the instructions, without fetches, of functions that find texels and cells (`ADDRESSES`); packing is that
of ``pack_...`` and ``unpack_...``; flow is the rest of ``main``: states, exits. `Instructions.within` is the kernel
itself with its random fetches and addresses, without the streams' own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from raystream.stream.analysis.graph import (
    BOTH,
    CHOOSE,
    COMPARISONS,
    COMPOSE,
    CONST,
    EXTRACT,
    INPUT,
    JOIN,
    LOOP,
    Graph,
    Node,
    constant_of,
    is_logical,
)
from raystream.stream.analysis.spirv import NoCompiler, compiled
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, Addresses, PlannedAddresses
from raystream.stream.compile.source import Source
from raystream.stream.declare.limits import LIMITS

ADDRESSES = (
    *("fetch_", "photon_cell", "photon_grid", "photons_of_cell", "photon_at", "arena_texel", "texel_of"),
    *("cell_of", "place_of"),
)
PACKING = ("pack_", "unpack_")

FREE_OPS = frozenset(
    (CONST, INPUT, LOOP, COMPOSE, EXTRACT, CHOOSE, "FNegate", "SNegate", "FAbs", "SAbs", "LogicalNot", "Undef")
) | {"ImageQuerySizeLod", "ImageQuerySize", "ImageQueryLevels"}
BIT_OPS = frozenset(("BitwiseOr", "BitwiseXor", "BitwiseAnd", "Not", "BitReverse", "BitCount", "FindILsb")) | {
    *("FindSMsb", "FindUMsb", "BitFieldInsert", "BitFieldSExtract", "BitFieldUExtract", "UMulExtended"),
    *("SMulExtended", "IAddCarry", "ISubBorrow"),
}
SUM_OPS = frozenset(("FAdd", "FSub", "IAdd", "ISub"))
# Of each component, and of a whole vector.
COST_PER_COMPONENT = {
    **dict.fromkeys(("Reciprocal", "ReciprocalRoot", "Sin", "Cos", "Exp2", "Log2"), 1),
    **{"Tan": 4, "Asin": 6, "Acos": 6, "Atan": 9, "Atan2": 13, "Sinh": 5, "Cosh": 5, "Tanh": 6},
}
COST_PER_VECTOR = {
    **{"Cross": 2, "FClamp": 2, "UClamp": 2, "SClamp": 2, "SmoothStep": 6, "Round": 2, "RoundEven": 2, "Refract": 9},
    **{"FSign": 2, "SSign": 2, "FaceForward": 2, "Fwidth": 3, "ImageQueryLod": 3},
}
MATRIX_COSTS = {2: (1, 2), 3: (3, 8), 4: (12, 24)}  # determinant, inverse


@dataclass(frozen=True)
class Instructions:
    """Instructions of a program, one iteration.

    arithmetic : without addresses, packing and flow. textures : fetches, ``random`` of them from memories. branches :
    of the kernel. bits : bit operations among the others. within : of the kernel itself, with its fetches from
    memories. levels : chained fetches, each at an address computed from the one before.
    """

    arithmetic: int = 0
    textures: int = 0
    addresses: int = 0
    packing: int = 0
    flow: int = 0
    random: int = 0
    branches: int = 0
    bits: int = 0
    within: int = 0
    levels: int = 0

    @property
    def all(self) -> int:
        """All instructions on a machine without branches."""
        return self.arithmetic + self.textures + self.addresses + self.packing + self.flow

    @property
    def several(self) -> int:
        """As a pass of its own (SIMD), in the sense of table 5.1: without fetches and addresses within textures."""
        return self.arithmetic + self.packing + self.flow

    @property
    def branching(self) -> int:
        """As part of a single pass with branches (MIMD), streams in registers, in the sense of table 5.1."""
        return self.arithmetic + self.branches

    def __add__(self, other: Instructions) -> Instructions:
        sums = {name: getattr(self, name) + getattr(other, name) for name in vars(self)}
        return Instructions(**{**sums, "levels": max(self.levels, other.levels)})


def count(text: str, stage: str = "frag", kernel: str = "") -> Instructions:
    """The instructions of a GLSL program, by the module's rules. kernel: the function that ``main`` calls, if any.

    Raises `raystream.stream.analysis.spirv.NoCompiler` without glslangValidator.
    """
    return _count_cached(text, stage, kernel)


def instructions(
    program: LinkedProgram, states: Iterable[str] | None = None, addresses: Addresses | None = None
) -> dict[str, Instructions]:
    """The instructions of one call of every state of a linked program (or of some): ``all`` on the SIMD machine,
    ``branching`` on MIMD.

    Raises `NoCompiler` without glslangValidator.
    """
    requested = None if states is None else set(states)
    counts = {}
    for name, source in step_sources(program, addresses):
        if requested is None or name in requested:
            counts[name] = count(source.text, "frag", program.program.by_name[name].kernel.name)
    return counts


@lru_cache(maxsize=256)
def _count_cached(text: str, stage: str, kernel: str) -> Instructions:
    graph = Graph(compiled(text, stage))
    nodes = reachable_nodes(graph.roots)
    costs = instruction_costs(nodes)
    totals: Counter[str] = Counter()
    for node, cost in costs.items():
        calls = node.place.calls
        in_kernel = bool(kernel) and kernel in calls
        totals["bits"] += cost if node.op in BIT_OPS else 0
        totals["within"] += cost if in_kernel else 0
        if node.op.startswith("Image"):
            totals["textures"] += cost
            totals["random"] += cost if in_kernel else 0
        else:
            totals[_counter_of(calls, in_kernel or not kernel)] += cost
    branches = sum(len(found) for place, found in graph.branches.items() if kernel in place.calls) if kernel else 0
    return Instructions(branches=branches, levels=_longest_fetch_chain(nodes), **totals)


def _longest_fetch_chain(nodes: list[Node]) -> int:
    """The number of fetches in the longest chain of dependent ones, in one iteration."""
    levels: dict[int, int] = {}

    def level(node: Node) -> int:
        if node.index not in levels:
            levels[node.index] = 0
            args = node.args[:1] if node.op == LOOP else node.args
            levels[node.index] = max(map(level, args), default=0) + node.op.startswith(("ImageF", "ImageS"))
        return levels[node.index]

    return max(map(level, nodes), default=0)


def _counter_of(calls: tuple[str, ...], inside: bool) -> str:
    """The field of `Instructions` that counts a node within these calls, outermost first. inside : the kernel."""
    for name in reversed(calls):
        if name.startswith(ADDRESSES):
            return "addresses"
        if name.startswith(PACKING):
            return "packing"
    return "arithmetic" if inside else "flow"


def reachable_nodes(roots: Iterable[Node]) -> list[Node]:
    """The nodes reachable from the roots, roots included."""
    visited: dict[int, Node] = {}
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node.index not in visited:
            visited[node.index] = node
            waiting += node.args
    return list(visited.values())


def instruction_costs(nodes: list[Node]) -> dict[Node, int]:
    """Instructions of every node, including those merged into other instructions at no cost."""
    users: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        for arg in dict.fromkeys(node.args):
            users[arg].append(node)
    constant: dict[int, bool] = {}

    def made_of_constants(node: Node) -> bool:
        if node.index not in constant:
            constant[node.index] = False
            constant[node.index] = node.op == CONST or (
                node.op not in (INPUT, LOOP, JOIN) and bool(node.args) and all(map(made_of_constants, node.args))
            )
        return constant[node.index]

    costs = {node: 0 if made_of_constants(node) else _own_cost(node, users[node]) for node in nodes}
    for node in sorted(nodes, key=lambda node: node.index):
        if node.op in SUM_OPS and costs[node]:
            product = next((p for p in map(_without_sign, node.args) if p.op in ("FMul", "IMul") and costs[p]), None)
            if product is not None and _only_use(product, users) is node:
                costs[product] = 0
    return costs


def _without_sign(node: Node) -> Node:
    return node.args[0] if node.op in ("FNegate", "SNegate") else node


def _only_use(node: Node, users: dict[Node, list[Node]]) -> Node | None:
    """The single user of a node, looking through signs."""
    users_here = users[node]
    while len(users_here) == 1 and users_here[0].op in ("FNegate", "SNegate"):
        users_here = users[users_here[0]]
    return users_here[0] if len(users_here) == 1 else None


def _own_cost(node: Node, users: list[Node]) -> int:
    """Instructions of a node, were it not merged into one of its ``users``."""
    op = node.op
    if op in FREE_OPS:
        return 0
    special: Callable[[Node, list[Node]], int] | None = _SPECIAL_COSTS.get(op)
    if special is not None:
        return special(node, users)
    if op == BOTH:
        return int(not all(_is_condition(user, node) for user in users))
    if op in COMPARISONS:
        return 0 if _compares_with_zero(node) and all(_is_condition(user, node) for user in users) else 1
    if op in COST_PER_COMPONENT:
        return COST_PER_COMPONENT[op] * node.width
    return COST_PER_VECTOR.get(op, 1)


def _clamp_cost(node: Node, users: list[Node]) -> int:
    return 0 if (constant_of(node.args[1]), constant_of(node.args[2])) == (0, 1) else 2


def _select_cost(node: Node, users: list[Node]) -> int:
    chosen = {constant_of(node.args[1]), constant_of(node.args[2])}
    return 0 if chosen == {0, 1} and is_logical(node.args[0]) else 1


def _truncation_cost(node: Node, users: list[Node]) -> int:
    """Truncation; free for a texel and for the fragment's own position."""
    value = node.args[0]
    while value.op == EXTRACT or (value.op == COMPOSE and len({part.op for part in value.args}) == 1):
        value = value.args[0]
    position = value.op == INPUT and value.extra[0] == "gl_FragCoord"
    return 0 if value.op.startswith("Image") or position else 1


def _determinant_cost(node: Node, users: list[Node]) -> int:
    return MATRIX_COSTS[node.extra][0]


def _inverse_cost(node: Node, users: list[Node]) -> int:
    size, column = node.extra
    return MATRIX_COSTS[size][1] if column == 0 else 0


def _join_cost(node: Node, users: list[Node]) -> int:
    """A select between true and false is an and or an or; else a move where neither arm's value is made for it
    alone."""
    return 1 if node.extra is True or not any(map(_is_computed, node.args[-2:])) else 0


def _is_computed(value: Node) -> bool:
    """Whether an instruction makes the value, or a part of it."""
    return value.op not in FREE_OPS or (value.op == COMPOSE and any(map(_is_computed, value.args)))


_SPECIAL_COSTS: dict[str, Callable[[Node, list[Node]], int]] = {
    **dict.fromkeys(("FClamp", "SClamp", "UClamp"), _clamp_cost),
    **{JOIN: _join_cost, "Select": _select_cost, "ConvertFToS": _truncation_cost},
    **{"Determinant": _determinant_cost, "InverseColumn": _inverse_cost},
}


def _compares_with_zero(node: Node) -> bool:
    return any(constant_of(arg) == 0 for arg in node.args)


def _is_condition(user: Node, node: Node) -> bool:
    """Whether a user takes a comparison as its condition."""
    if user.op in ("LogicalNot", BOTH):
        return True
    return user.op in ("Select", JOIN, LOOP) and node not in user.args[1:3] and user.extra is not True


def kernels_beyond_limits(linked: LinkedProgram, year: str, addresses: Addresses | None = None) -> list[str]:
    """The kernels, as one pass each, beyond the limits of ``year`` (of `LIMITS`) in arithmetic instructions or levels
    of dependent fetches: "shade (97 instructions of 64)".

    Raises `NoCompiler` without glslangValidator, the compiler behind the counts.
    """
    limits, excesses = LIMITS[year], []
    for name, counts in instructions(linked, addresses=addresses).items():
        arithmetic = counts.all - counts.textures
        excess = [f"{arithmetic} instructions of {limits.instructions}"] if arithmetic > limits.instructions else []
        if counts.levels > limits.fetches:
            excess.append(f"{counts.levels} levels of fetches of {limits.fetches}")
        if excess:
            excesses.append(f"{name} ({', '.join(excess)})")
    return excesses


def remarks(linked: LinkedProgram, year: str, addresses: Addresses | None = None) -> list[str]:
    """Warnings for a render under the limits of a year: a line on kernels too long, which run all the same; none
    without limits, or where all fit."""
    if year not in LIMITS:
        return []
    try:
        too_long = kernels_beyond_limits(linked, year, addresses)
    except NoCompiler as error:
        return [f"--limits {year}: program lengths are not checked: {error}"]
    if not too_long:
        return []
    return [f"--limits {year}: kernels too long for its programs, run all the same: {', '.join(too_long)}"]


_ITERATION = re.compile(r"^ *(int iteration = 0|\+\+iteration);$")
_STATE_BEGIN = re.compile(r"^    (while|if) \((iteration < unroll && )?state == STATE_\w+\) (do )?\{$")
_STATE_END = re.compile(r"^    \} while \(iteration < unroll && state == STATE_\w+\);$")
_INT_OF = re.compile(r"^(int|ivec\d) int_of\((\w+) x\) \{.*\}$")
_PRECISE = "#define EXACT precise"
_UNIFORM_COPY = re.compile(r"^\w+ once_(\w+) = gl_FragCoord\.x < 0\.0 \? .*;$|^#define (\w+) once_\2$")


def step_sources(linked: LinkedProgram, addresses: Addresses | None = None) -> Iterator[tuple[str, Source]]:
    """The fragment program of each state, a kernel each, without workarounds for drivers (`plain_source`)."""
    for step in linked.steps("none"):
        source = fragment(linked, step, Form(scheduled=True), addresses or PlannedAddresses(MAX_ROW_TEXELS))
        yield step.name, plain_source(source)


def plain_source(source: Source) -> Source:
    """A program without workarounds and scheduling: without the copies of uniforms for llvmpipe
    (`raystream.stream.compile.memories.uniform_glsl`), with plain conversions of integers (``lib/int_of.glsl``) and
    plain sums (``lib/exact.glsl``: no compiler of the day rearranges them, and the one behind the counts has no
    ``precise``), and without its state's loop and test, which a mask and ``unroll`` 1 replace.
    """
    return replace(source, lines=[(_line_without_workarounds(text), origin) for text, origin in source.lines])


def _line_without_workarounds(text: str) -> str:
    """A line of a program as `plain_source` has it; empty where there is none."""
    if _UNIFORM_COPY.match(text) or _ITERATION.match(text):
        return ""
    if text == _PRECISE:
        return "#define EXACT"
    if integer := _INT_OF.match(text):
        return f"{integer[1]} int_of({integer[2]} x) {{ return {integer[1]}(x); }}"
    if _STATE_BEGIN.match(text):
        return "    {"
    return "    }" if _STATE_END.match(text) else text
