"""Options whose words are registered above them: programs with their path lengths, layers, tone maps.

Texts on options (help, docstrings, pages) are made from these; floors below know no names.
"""

from __future__ import annotations

from dataclasses import replace

from viewer.film.layers import WORDS
from viewer.film.tonemap import TONEMAPS
from viewer.options.declare import Option, listed
from viewer.options.table import OPTIONS
from viewer.programs import PICTURES, PictureProgram
from viewer.renderer.inputs.program_file import read_program


def registered() -> dict[str, Option]:
    """All options by name, with this installation's plugins."""
    words = {"program": PICTURES, "layers": WORDS, "tonemap": TONEMAPS}
    known = {name: replace(OPTIONS[name], choices=tuple(choices)) for name, choices in words.items()}
    known["program"] = replace(known["program"], read=lambda _, value: read_program(value))
    return {**OPTIONS, **known, "depth": replace(OPTIONS["depth"], default_text=_depths())}


def _depths() -> str:
    """The maximum path length that programs have, and those of which it is another."""
    others: dict[int, list[str]] = {}
    for name, program in PICTURES.items():
        if program.depth != PictureProgram.depth and program.uses("depth"):
            others.setdefault(program.depth, []).append(name)
    told = (f"of {listed(names, 'and')} {depth}" for depth, names in sorted(others.items()))
    return ", ".join((str(PictureProgram.depth), *told))
