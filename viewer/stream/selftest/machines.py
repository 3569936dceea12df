"""Self-tests of the machines: a small program's results against its model, and their bits among machines, fusions,
masks, counts, with and without a texture barrier and buffer textures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import IN, INOUT, OUT, Kernel, Module, Table
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.machines import MACHINES
from raystream.stream.machines.mask import COUNT_MODES, MASKS
from raystream.stream.selftest.check import FAIL, PASS, Check, Finding, exact, in_one_line

# -- the program of the machines' self-test ----------------------------------------------------------------------------
# The way of a number to 1 (Collatz), in two states that alternate irregularly between a first and a last one, with
# a table and a sum of floats; and its NumPy model.

SEED = Record("Seed", Field("n", "int"))
NUMBER = Record("Number", Field("n", "int"), Field("steps", "int"), Field("sum", "float"))
ANSWER = Record("Answer", Field("steps", "int"), Field("began", "int"), Field("sum", "float"))
WEIGHT = Record("Weight", Field("weight", "float"))

BEGIN = Kernel("collatz_begin", (IN("seed", SEED), OUT("number", NUMBER)), ("even", "odd", "one"), ("weight_of",))
EVEN = Kernel("collatz_even", (INOUT("number", NUMBER),), ("again", "odd", "one"), ("weight_of",))
ODD = Kernel("collatz_odd", (INOUT("number", NUMBER),), ("even",), ("weight_of",))
END = Kernel("collatz_end", (IN("seed", SEED), IN("number", NUMBER), OUT("answer", ANSWER)), ("done",))

PROGRAM = Program(
    "collatz",
    streams={"seed": SEED, "number": NUMBER, "answer": ANSWER},
    inputs=("seed",),
    results=("answer",),
    states=(
        State("begin", BEGIN, {"even": "even", "odd": "odd", "one": "end"}),
        State("even", EVEN, {"again": "even", "odd": "odd", "one": "end"}),
        State("odd", ODD, {"even": "even"}),
        State("end", END, {"done": DONE}),
    ),
    start="begin",
    groups={"pair": (("even", "odd"),)},
)
FUSIONS = ("none", *PROGRAM.groups)
WEIGHTS = 251  # rows of the table


def linked() -> LinkedProgram:
    """The program with its table."""
    data = np.zeros(WEIGHTS, WEIGHT.dtype)
    data["weight"] = np.random.default_rng(41).uniform(0.5, 1.5, WEIGHTS)
    table = Table("weights", WEIGHT, data, hot=True)
    module = Module("weights", ("weight_of",), "stream/weights.glsl", (table,), constants={"WEIGHTS": WEIGHTS})
    return LinkedProgram(PROGRAM, [module])


def seed_records(count: int) -> NDArray:
    """(count,) structured of `SEED`, none of whose ways comes near 2^24."""
    rows = np.zeros(count, SEED.dtype)
    rows["n"] = 1 + np.arange(count) * 7 % 2000
    return rows


def steps(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Steps of every number on its way to 1."""
    n, counts = values.astype(np.int64), np.zeros(len(values), np.int32)
    while (n > 1).any():
        counts += n > 1
        n = np.where(n > 1, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
    return counts


# -- results against the model, and their bits among machines ----------------------------------------------------------

SIZE = (37, 11)  # odd, and a little more than a tile


def results(device: Device, machine: str, **options: Any) -> NDArray:
    """(N,) structured: a machine's results of the program."""
    running = MACHINES[machine](device, linked(), SIZE, **options)
    running.write("seed", seed_records(SIZE[0] * SIZE[1]).reshape(SIZE[::-1]))
    running.finish()
    answers = ANSWER.unpack(running.streams["answer"].read_texels()).reshape(-1)
    running.release()
    running.resources.release()
    return answers


def compared_with_model(answers: NDArray) -> Finding:
    """The finding of a machine's results (N,), held to the model."""
    seeds = seed_records(len(answers))["n"]
    wrong = (answers["began"] != seeds) | (answers["steps"] != steps(seeds)) | ~np.isfinite(answers["sum"])
    return exact(int(wrong.sum()), len(answers), "rays")


def machine_check(machine: str) -> Callable[[Device], Finding]:
    """The check of one machine, in the plainest way that it runs: without a mask, counted by a census."""

    def run(device: Device) -> Finding:
        chosen = {"mask": "none", "count": "census"} if machine == "multipass" else {}
        return compared_with_model(results(device, machine, **chosen))

    return run


def variants_of(device: Device) -> dict[str, tuple[Device, str, dict[str, Any]]]:
    """All variants of running the program on a device, by name."""
    variants: dict[str, tuple[Device, str, dict[str, Any]]] = {"singlepass": (device, "singlepass", {})}
    for fuse in FUSIONS:
        for mask in MASKS:
            for count in COUNT_MODES if fuse == "none" else COUNT_MODES[:1]:
                name = f"fuse {fuse}, mask {mask}, {count}"
                variants[name] = device, "multipass", {"fuse": fuse, "mask": mask, "count": count}
    plain = replace(device, allow_barrier=False)  # the same context
    variants["singlepass, no barrier"] = plain, "singlepass", {}
    for mask in ("depth", "none"):
        variants[f"mask {mask}, no barrier"] = plain, "multipass", {"mask": mask}
    other = replace(device)
    other.software_form = not device.software_form  # of programs for GPUs, or for rasterisers on the CPU
    variants["singlepass, other form"] = other, "singlepass", {}
    variants["fuse pair, other form"] = other, "multipass", {"fuse": "pair"}
    if device.max_buffer:
        textures = replace(device, allow_buffers=False)
        variants["singlepass, textures"] = textures, "singlepass", {}
        variants["multipass, textures"] = textures, "multipass", {}
    return variants


def bits_of_variants(device: Device) -> Finding:
    """Bits of results of all variants, the same as the first one's."""
    reference, wrong, failed = b"", [], []
    variants = variants_of(device)
    for name, (variant_device, machine, options) in variants.items():
        try:
            answers = results(variant_device, machine, **options)
        except Exception as error:
            failed.append(f"{name}: {in_one_line(error)}")
            continue
        reference = reference or answers.tobytes()
        if compared_with_model(answers).verdict != PASS or answers.tobytes() != reference:
            wrong.append(name)
    texts = [f"others' bits by {'; '.join(wrong)}"] if wrong else []
    return Finding(FAIL if wrong or failed else PASS, "; ".join([*texts, *failed]), {"ways": len(variants)})


CHECKS = (
    *(Check(machine, machine_check(machine), decides=True) for machine in MACHINES),
    Check("bits of all machines, masks and memories", bits_of_variants),
)
