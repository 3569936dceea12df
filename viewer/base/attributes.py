"""Assignments to attributes that a class does not have raise an error, with the name that may be meant."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from difflib import get_close_matches
from typing import Any, Never, TypeVar

Class = TypeVar("Class", bound=type[Any])
CLOSE = 0.5  # likeness of names, as difflib has it, from which one may be meant


def declared(cls: Class) -> Class:
    """A decorator of dataclasses: nothing but their fields can be assigned to; of frozen ones nothing, and the error
    tells how they are replaced."""
    names, set_attribute = frozenset(field.name for field in fields(cls)), object.__setattr__

    def assign(self: Any, name: str, value: Any) -> None:
        if name not in names:
            refuse(self, name)
        set_attribute(self, name, value)

    def refuse_assignment(self: Any, name: str, value: Any) -> Never:
        if name not in names:
            refuse(self, name)
        kind = type(self).__name__
        raise FrozenInstanceError(
            f"{kind} is a value, its {name} stays: put dataclasses.replace({kind.lower()}, {name}=...) in its place"
        )

    cls.__setattr__ = refuse_assignment if cls.__dataclass_params__.frozen else assign  # type: ignore[assignment]
    return cls


def refuse(instance: Any, name: str) -> Never:
    """Raises AttributeError for a name that an instance does not have."""
    names = [field.name for field in fields(instance) if not field.name.startswith("_")]
    close = get_close_matches(name, names, n=1, cutoff=CLOSE)
    hint = f"did you mean '{close[0]}'?" if close else f"it has {', '.join(names)}"
    raise AttributeError(f"{type(instance).__name__} has no '{name}': {hint}", name=name, obj=instance)
