"""What a section is given: the device, scenes, and a place where results of its units are kept."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from benchmarks import scenes

import raystream
from raystream.base.paths import PACKAGE, assets, shaders
from raystream.scene.scene import Scene
from raystream.stream.gl.device import Device, shared_device

from . import kept
from .machine_load import Quiet, load_average
from .report import AbsentError
from .stored import Measurements, commit_of, made_now, software

T = TypeVar("T")
HERE = Path(__file__).parent
# Not among what decides about kept results: how they are laid out.
LAYOUT = {f"{name}.py" for name in ("run", "report", "context", "kept", "plots", "stored")}


class Context:
    """A section's surroundings.

    Parameters
    ----------
    folder   : of this report; figures go there, and what is kept into ``kept`` in it.
    quick    : small sizes, all sections together in two minutes on two cores.
    device   : the OpenGL device by its number; None for the first.
    progress : called with a line about what is being made.
    stored   : measurements of before: nothing is measured, and neither a device nor scene data is needed.
    before   : measurements of before, from which all but the timings are taken, where they are there.
    kept     : the folder in ``folder`` for results until the report is whole.
    """

    def __init__(
        self,
        folder: Path,
        quick: bool = False,
        device: int | None = None,
        progress: Callable[[str], None] = lambda text: None,
        stored: Measurements | None = None,
        before: Measurements | None = None,
        kept: str = "kept",
    ) -> None:
        self.folder, self.quick, self.device_number = Path(folder), quick, device
        self.tell = progress
        self._identifier, self._source = "", ""  # of the section that is made, and its file
        self._code: dict[str, str] = {}
        self._scenes: dict[str, Scene] = {}
        self.made = self.found = 0  # units computed, and units that were kept
        self.stored, self.before, self.measured = stored, before, Measurements({"quick": quick})
        self.kept = self.folder / kept
        self.load_at_start = load_average()
        self.quiet: list[Quiet] = []  # of the section's timings
        self.all_quiet: list[Quiet] = []  # of all sections'
        self._origins: dict[str, dict[str, Any]] = {}  # of the section's units
        self.software: dict[str, None] = {}  # that units were made with, see `stored.software`

    def enter(self, identifier: str, make: Callable[..., Any]) -> None:
        """The section whose units are kept from now on, by its name, and the function that makes it."""
        self._identifier, self._source = identifier, inspect.getsourcefile(make) or ""
        self._origins, self.quiet = {}, []

    def leave(self) -> list[Quiet]:
        """How quiet the machine was for the timings of the section that ends."""
        self.all_quiet += self.quiet
        return self.quiet

    @property
    def origins(self) -> list[dict[str, Any]]:
        """When, where and from which sources the units of the section were made."""
        return list(self._origins.values())

    @cached_property
    def commit(self) -> str:
        """Of the checkout; empty for an installed package."""
        return commit_of(HERE)

    @property
    def device_name(self) -> str:
        """The device that the section's results so far come from, or else this one."""
        if self.stored is None:
            return str(self.device.name)
        return " and ".join(dict.fromkeys(str(each["renderer"]) for each in self.origins))

    @cached_property
    def device(self) -> Device:
        """The OpenGL device of the whole report."""
        return shared_device(self.device_number)

    def progress(self, text: str) -> None:
        """Say what is being made."""
        self.tell(text)

    def scene(self, name: str) -> Scene:
        """A built-in scene by its name, or a file of the scene data by its (``bunny.ply``).

        Raises AbsentError where the file is not on this machine, ViewerError where it is damaged.
        """
        if name not in self._scenes:
            source = str(self.file(name)) if "." in name else name
            self._scenes[name] = raystream.load(source)
        return self._scenes[name]

    def file(self, name: str) -> Path:
        """A file of the scene data, in ``scenes`` or ``refs`` of it, or a level of our own. Raises AbsentError."""
        folder = scenes.shared()
        for path in (folder / "scenes" / name, folder / "refs" / name, assets() / "levels" / name):
            if path.is_file():
                return path
        why = f"{name} not found in the folder of the scene data, which RAYSTREAM_SHARED names"
        raise AbsentError(name, why)

    def keep(self, key: Any, function: Callable[..., T], timing: bool = False) -> T:
        """``function()``, or what it gave in an earlier run: of the same section, key, size (``quick``), device and
        sources.

        key : JSON values, tuples; all inputs of the function that are not in the sources. function : called without
        arguments. The value is what `kept.save` can write; its tuples come back as lists. timing : it is of a clock,
        see `timed.keep`.
        Raises ViewerError where a kept file is damaged.
        """
        assert self._identifier, "no section was entered"
        if self.stored is not None:
            value, made = self.stored.get(self._identifier, key)
        else:
            value, made = self._measured(key, function, timing)
            self.measured.put(self._identifier, key, value, made)
        self.software[software(made)] = None
        self._origins[kept.digest({**made, "date": str(made["date"])[:10], "load_average": None})] = made
        return value  # type: ignore[no-any-return]

    def _measured(self, key: Any, function: Callable[..., T], timing: bool) -> tuple[T, dict[str, Any]]:
        if self.before is not None and not timing:
            with suppress(AbsentError):
                return self.before.get(self._identifier, key)
        return self._made(key, function)

    def _made(self, key: Any, function: Callable[..., T]) -> tuple[T, dict[str, Any]]:
        inputs = self._identifier, key, self.quick, self.device.driver, self.code()
        path = self.kept / self._identifier / f"{kept.digest(*inputs)}.npz"
        if path.is_file():
            self.found += 1
        else:
            self.progress(f"{self._identifier}: {_text(key)}")
            made = made_now(self.device, self.commit)
            kept.save(path, {"value": function(), "made": made})
            self.made += 1
        found = kept.read(path)  # the same types in this run as in the next
        return found["value"], found["made"]

    def code(self) -> str:
        """A digest of the sources that the section's results come from: the package, its shaders, its own module, and
        those of the report that it names."""
        own = self._source
        if own not in self._code:
            paths = [*PACKAGE.rglob("*.py"), *(path for path in shaders().rglob("*") if path.is_file())]
            text = Path(own).read_text(encoding="utf-8")
            beside = [path for folder in (HERE, HERE / "published") for path in folder.glob("*.[pt]*")]
            common = [path for path in beside if path.suffix in (".py", ".tsv") and path.name not in LAYOUT]
            paths += [path for path in common if path.stem in text]  # those that it imports
            paths.append(Path(own))
            total = hashlib.blake2b(digest_size=12)
            for path in sorted(paths):
                total.update(str(path.name).encode() + path.read_bytes())
            self._code[own] = total.hexdigest()
        return self._code[own]


def _text(key: Any) -> str:
    if isinstance(key, dict):
        return " ".join(f"{name}={value}" for name, value in key.items())
    return " ".join(map(_text, key)) if isinstance(key, list | tuple) else str(key)
