"""The types of options for editors and mypy: ``viewer/options/typed.pyi``, from the declarations and their readers.

``python tools/pages.py`` writes it.
"""

from __future__ import annotations

import json
import re

from raystream.options.declare import Option
from raystream.options.table import OPTIONS, keywords
from raystream.options.values import read_word

HEAD = '''"""The types of options. Made from their declarations: ``python tools/pages.py``."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from raystream.options.values import PhotonFilter, PolicyChoice, Unroll
'''
CALLS = """
class SettingKeywords(CommonKeywords, total=False):
    device: int | None

class RendererKeywords(CommonKeywords, total=False):
    variant: str | int | None
    lenient: bool
    up: Literal["y", "z"]

class RenderKeywords(RendererKeywords, PictureKeywords, total=False):
    settings: Any
    device: Any
    progress: Any
"""


def stored(option: Option) -> str:
    """The type of a checked value."""
    kind = str(option.value.read.__annotations__["return"])
    if getattr(option.value.read, "__wrapped__", option.value.read) is read_word and option.value.choices:
        kind = f"Literal[{', '.join(map(json.dumps, option.value.choices))}]"
    return kind if "None" in kind or kind == "Any" or option.value.default is not None else f"{kind} | None"


def accepted(option: Option) -> str:
    """The type of what its reader takes from Python."""
    if taken := getattr(option.value.read, "takes", ""):
        return str(taken)
    kinds: dict[str, None] = {}
    for kind in re.split(r" \| (?![^\[]*\])", stored(option)):
        kinds["Sequence[Any]" if kind.startswith("tuple[") else kind] = None
        if kind.startswith(("tuple[", "Literal[")) or kind in ("PhotonFilter", "PolicyChoice"):
            kinds["str"] = None  # words for editors to complete; a variable's text is any
    return " | ".join(sorted(kinds, key=lambda kind: kind == "None"))


def options_stub() -> str:
    """The text of the stub."""
    parts = [HEAD, "class SettingValues:"]
    for name in keywords("renderer"):
        parts.append(f"    @property\n    def {name}(self) -> {stored(OPTIONS[name])}: ...")
    own = [name for name in keywords("renderer") if name != "device"]
    for call, names in (("CommonKeywords", own), ("PictureKeywords", keywords("render"))):
        fields = (f"    {name}: {accepted(OPTIONS[name])}" for name in names)
        parts += [f"\nclass {call}(TypedDict, total=False):", *fields]
    parts.append(CALLS)
    return "\n".join(parts)
