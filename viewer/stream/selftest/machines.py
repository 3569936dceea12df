"""Self-tests of the machines: a small program's results against its model, and their bits among machines, fusions,
masks, counts, with and without a texture barrier and buffer textures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.stream.gl.device import Device
from raystream.stream.machines.count import COUNT_MODES
from raystream.stream.machines.mask import MASKS
from raystream.stream.machines.registry import MACHINES
from raystream.stream.selftest import program
from raystream.stream.selftest.check import FAIL, PASS, Check, Finding, exact, in_one_line

SIZE = (37, 11)  # odd, and a little more than a tile


def results(device: Device, machine: str, **options: Any) -> NDArray:
    """(N,) structured: a machine's results of the program."""
    running = MACHINES[machine](device, program.linked(), SIZE, **options)
    running.write("seed", program.seeds(SIZE[0] * SIZE[1]).reshape(SIZE[::-1]))
    running.finish()
    answers = program.ANSWER.unpack(running.streams["answer"].read_texels()).reshape(-1)
    running.release()
    running.resources.release()
    return answers


def judged(answers: NDArray) -> Finding:
    """Results against the model."""
    seeds = program.seeds(len(answers))["n"]
    wrong = (answers["began"] != seeds) | (answers["steps"] != program.steps(seeds)) | ~np.isfinite(answers["sum"])
    return exact(int(wrong.sum()), len(answers), "rays")


def machine_check(machine: str) -> Callable[[Device], Finding]:
    """The check of one machine, in the plainest way that it runs: without a mask, counted by a census."""

    def run(device: Device) -> Finding:
        chosen = {"mask": "none", "count": "census"} if machine == "multipass" else {}
        return judged(results(device, machine, **chosen))

    return run


def ways_of(device: Device) -> dict[str, tuple[Device, str, dict[str, Any]]]:
    """All variants of running the program on a device, by name."""
    variants: dict[str, tuple[Device, str, dict[str, Any]]] = {"singlepass": (device, "singlepass", {})}
    for fuse in program.FUSIONS:
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


def all_ways(device: Device) -> Finding:
    """Bits of results of all variants, the same as the first one's."""
    reference, wrong, failed = b"", [], []
    variants = ways_of(device)
    for name, (variant_device, machine, options) in variants.items():
        try:
            answers = results(variant_device, machine, **options)
        except Exception as error:
            failed.append(f"{name}: {in_one_line(error)}")
            continue
        reference = reference or answers.tobytes()
        if judged(answers).verdict != PASS or answers.tobytes() != reference:
            wrong.append(name)
    texts = [f"others' bits by {'; '.join(wrong)}"] if wrong else []
    return Finding(FAIL if wrong or failed else PASS, "; ".join([*texts, *failed]), {"ways": len(variants)})


CHECKS = (
    *(Check(machine, machine_check(machine), decides=True) for machine in MACHINES),
    Check("bits of all machines, masks and memories", all_ways),
)
