"""Picture programs by name: each registers itself here, once, with all facts on it that other packages use.

Command line, keys, panels, remote page, diagrams, metadata and shader check are made from these records; none of them
names a program. Facts that follow from a program's wiring (keywords of its maker, input streams) are not declared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

from raystream.lighting.path import DEPTH, SMOOTH_OF_TREES
from raystream.options.table import OPTIONS
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.stream.declare.program import Program


@dataclass(frozen=True)
class PictureProgram:
    """A program whose result is a picture. A call makes it, as ``make`` does.

    name     : as in ``--program``. make : wires it for a traversal, by how first hits are found (``first_hits``) and
               whichever it has of the keywords that `arguments` lists.
    help     : one line, of its key. caption : of its diagram.
    key      : of the window, by which programs are ordered, too.
    options  : options declared for other programs (`raystream.options.declare.Scope.programs`) that serve it as well.
    depth    : maximum path length in surface interactions where ``--depth`` does not say.
    roulette : Russian roulette ends paths where ``--depth`` does not say. smooth : roughness below which a glossy lobe
               counts as a mirror.
    rasterises : first hits are rasterised unless ``--first-hits`` says otherwise.
    noisy    : its first samples cannot be read, so that a window denoises them.
    sorts_light : its light can be sorted into layers (`raystream.programs.light_layers`).
    demodulates : its film is albedo times light plus emission, of the surfaces that the camera sees or that they
               mirror: denoisers may divide by the albedo. Nothing is assumed unless a program says so.
    """

    name: str
    make: Callable[..., Program]
    help: str
    caption: str
    key: str = ""
    options: tuple[str, ...] = ()
    depth: int = DEPTH
    roulette: bool = False
    smooth: float = SMOOTH_OF_TREES
    rasterises: bool = False
    noisy: bool = False
    demodulates: bool = False
    sorts_light: bool = False

    def __call__(self, traversal: TraversalStates = FLAT, **form: Any) -> Program:
        return self.make(traversal, **form)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The keywords of its maker, and their defaults."""
        return {name: parameter.default for name, parameter in signature(self.make).parameters.items()}

    @cached_property
    def _inputs(self) -> tuple[str, ...]:
        return self.make().inputs

    @property
    def progressive(self) -> bool:
        """Whether it adds samples to a film; else one run makes the whole picture."""
        return "film" in self._inputs

    @property
    def maps_photons(self) -> bool:
        """Whether it reads a photon map."""
        return "photons" in self._inputs

    def arguments(self, **keywords: Any) -> dict[str, Any]:
        """The ``keywords`` that its maker has, without those that equal the defaults."""
        parameters = self.parameters
        return {name: value for name, value in keywords.items() if name in parameters and value != parameters[name]}

    def uses(self, option: str) -> bool:
        """Whether the option of that name has an effect on it."""
        scope = OPTIONS[option].scope
        declared = option in self.options or not scope.programs or self.name in scope.programs
        return declared and (self.progressive or not scope.sampled)


PICTURES: dict[str, PictureProgram] = {}  # in the order of their keys, those without one at the end


def register(program: PictureProgram) -> None:
    """Add a program to `PICTURES`. Raises ValueError for a name or key that another one has, and for unknown
    options."""
    for other in PICTURES.values():
        if program.name == other.name or (program.key and program.key == other.key):
            raise ValueError(f"programs {other.name} and {program.name}: one name, or one key {program.key}")
    if unknown := set(program.options) - OPTIONS.keys():
        raise ValueError(f"program {program.name}: no options {', '.join(sorted(unknown))}")
    ordered = sorted((*PICTURES.values(), program), key=lambda entry: (not entry.key, entry.key, entry.name))
    PICTURES.clear()
    PICTURES.update({entry.name: entry for entry in ordered})


def programs_with(condition: Callable[[PictureProgram], bool]) -> list[str]:
    """The names of the programs that meet a condition."""
    return [name for name, program in PICTURES.items() if condition(program)]
