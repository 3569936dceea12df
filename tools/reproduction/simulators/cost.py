"""What a picture costs on a machine: instructions and bytes, by the model of the papers.

C = R (C_r + v C_v + t C_t + s C_s) + R P C_state, of R rays that each pierce v voxels, test t triangles and are shaded
s times, in P passes; C_r is a ray's beginning (eye ray and set-up), C_v, C_t, C_s are a call of the kernels of
traversal, intersection and shading. In every pass all rays' states are read; a machine of one pass has none.

Source: T. J. Purcell, "Ray Tracing on a Stream Processor" (2004), 5.2.1; Purcell et al. (2002), section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reproduction.published.chapter5 import KernelRow

WORD = 4  # bytes
# Calls of a kernel per ray, by what of `Workload` it goes with.
EYE, SETUP, STEP, INTERSECT, COLOR = KERNELS = (
    "Generate Eye Ray",
    "Traverse: Setup",
    "Traverse: Step",
    "Intersect",
    "Shade: Color",
)
TYPES = ("stream", "structures", "state")


@dataclass(frozen=True)
class Workload:
    """What rays do. rays : R; v, t, s : voxels, tests and shadings per ray; passes : P; eye : share of the rays that
    are eye rays, which alone have their generation counted."""

    rays: int
    v: float
    t: float
    s: float
    passes: int = 0
    eye: float = 1.0

    def calls(self) -> dict[str, float]:
        """Of each of `KERNELS`, by all rays."""
        per_ray = {EYE: self.eye, SETUP: 1.0, STEP: self.v, INTERSECT: self.t, COLOR: self.s}
        return {name: self.rays * calls for name, calls in per_ray.items()}


@dataclass(frozen=True)
class Cost:
    """instructions by kernel; bytes by kernel, "state reads" among them; bytes by type, of `TYPES`."""

    instructions: Mapping[str, float]
    bytes_by_kernel: Mapping[str, float]
    bytes_by_type: Mapping[str, float]

    @property
    def total_instructions(self) -> float:
        """Of all kernels."""
        return sum(self.instructions.values())

    @property
    def total_bytes(self) -> float:
        """Of all kernels and the state reads."""
        return sum(self.bytes_by_type.values())

    @property
    def instructions_per_byte(self) -> float:
        """What is compared with a processor's own ratio: above it instructions limit, below it memory does."""
        return self.total_instructions / max(self.total_bytes, 1e-300)


def cost(work: Workload, kernels: Mapping[str, KernelRow], state: float = 1.0) -> Cost:
    """Of a workload, with the kernels' rows as of table 5.1.

    state : bytes of a ray's state; states are read by all rays in all passes, whatever the kernels' rows say, and
    written by the calls. 0 for a machine without states.
    """
    instructions, by_kernel = {}, {}
    by_type = dict.fromkeys(TYPES, 0.0)
    for name, calls in work.calls().items():
        row = kernels[name]
        stream, structures = calls * WORD * (row.read + row.written), calls * WORD * row.random
        written = calls * row.state_written
        instructions[name] = calls * row.instructions
        by_kernel[name] = stream + structures + written
        by_type["stream"] += stream
        by_type["structures"] += structures
        by_type["state"] += written
    reads = work.rays * work.passes * state
    by_kernel["state reads"] = reads
    by_type["state"] += reads
    return Cost(instructions, by_kernel, by_type)
