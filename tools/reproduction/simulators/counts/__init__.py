"""Words and instructions of every kernel of a program, as the papers count them (Purcell 2004, tables 5.1, 5.3, 6.2).

`words` needs nothing but the declarations; `instructions` needs ``glslangValidator``, and raises `NoCompiler` where it
is not installed. ``published_program`` makes the programs of the papers' machines without OpenGL.
"""

from raystream.stream.analysis.instructions import Instructions, count, instructions, step_sources
from raystream.stream.analysis.spirv import NoCompiler
from reproduction.simulators.counts.programs import PUBLISHED_KERNELS, kernel_rows, published_program
from reproduction.simulators.counts.words import MACHINES, Words, words

__all__ = [
    "MACHINES",
    "PUBLISHED_KERNELS",
    "Instructions",
    "NoCompiler",
    "Words",
    "count",
    "instructions",
    "kernel_rows",
    "published_program",
    "step_sources",
    "words",
]
