"""The settings of a renderer: one frozen value of all its options, and values derived from them alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from inspect import Signature, cleandoc, signature
from typing import TYPE_CHECKING, Any, TypeVar

from raystream.accel.structures import StructureOptions
from raystream.base.errors import ViewerError
from raystream.film.layers import WORDS
from raystream.film.tonemap import TONEMAPS
from raystream.lighting.path import ROULETTE, PathSettings
from raystream.lighting.sampler import sampler_uniforms
from raystream.options import table as options
from raystream.options.declare import Affects, Option, join_words
from raystream.options.typed import SettingValues
from raystream.programs import PICTURES, PictureProgram
from raystream.renderer.inputs.program_file import file_of, read_program

if TYPE_CHECKING:
    from typing import Unpack

    from raystream.options.typed import SettingKeywords

NAMES = tuple(options.keywords("renderer"))
STRUCTURE = tuple(options.keywords("prepare"))
MACHINE = tuple(options.part("machine"))
PATH = tuple(name for name in signature(PathSettings).parameters if name in NAMES)
VIEW = tuple(options.part("camera"))  # what the camera follows from, with the scene
# What a scene is prepared by, before any OpenGL.
PREPARED = tuple(name for name in options.part("structure", "scene", "light") if name in NAMES)
# Who takes other options; of the command line's, a switch of the renderer has the name of one.
HOMES = {
    **dict.fromkeys((*options.keywords("render"), "stats"), "Renderer.render"),
    **dict.fromkeys(options.keywords("save"), "Picture.save"),
    **dict.fromkeys(("moment", "animation"), "Renderer.update"),
}


class Settings(SettingValues, Mapping[str, Any]):
    """A value for every option of `raystream.Renderer`, checked, by name and as an attribute: ``settings.program``.

    It never changes: `replace` makes another one. Two are equal where all their values are.

    Raises ViewerError for an unknown option and a value out of range.
    """

    __slots__ = ()
    _values: dict[str, Any]

    def __init__(self, **chosen: Unpack[SettingKeywords]) -> None:
        values = {name: options.OPTIONS[name].value.default for name in NAMES}
        values |= {name: checked(name, value) for name, value in chosen.items()}
        object.__setattr__(self, "_values", values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"settings do not change: take replace({name}=...)")

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and (self is other or not self.differences(other))

    def __hash__(self) -> int:
        return hash(tuple(self._values.values()))

    def __repr__(self) -> str:
        changed = (f"{name}={value!r}" for name, value in self.items() if value != options.OPTIONS[name].value.default)
        return f"Settings({', '.join(changed)})"

    def __reduce__(self) -> Any:
        program = file_of(self.program) or self.program  # which another process reads itself
        return partial(Settings, **{**self._values, "program": program}), ()

    def replace(self, **changes: Unpack[SettingKeywords]) -> Settings:
        """The same with other values, which are checked; itself where nothing differs.

        Raises ViewerError for an unknown option and a value out of range.
        """
        changed = {name: checked(name, value) for name, value in changes.items()}
        if all(_same(value, self._values[name]) for name, value in changed.items()):
            return self
        return self._with(changed)

    def _with(self, changed: Mapping[str, Any]) -> Settings:
        """The same with other values, which have been checked."""
        settings: Settings = object.__new__(Settings)
        object.__setattr__(settings, "_values", {**self._values, **changed})
        return settings

    def differences(self, other: Settings) -> dict[str, Affects]:
        """The options whose values differ, and the part that each affects."""
        differ = [name for name in NAMES if not _same(self._values[name], other[name])]
        effects = {name: options.OPTIONS[name].affects for name in differ}
        if "camera" in effects and _kind(self.camera) != _kind(other.camera):
            effects["camera"] = Affects.PROGRAM
        now = self.form()
        for name in [name for name, affects in effects.items() if affects == Affects.UNIFORMS and name not in VIEW]:
            if self._with({name: other[name]}).form() != now:
                effects[name] = Affects.PROGRAM  # states or streams follow from it
        return effects

    # -- what follows ----------------------------------------------------------------------------------------------

    @property
    def picture_program(self) -> PictureProgram:
        """The chosen program, as registered."""
        return PICTURES[self.program]

    @property
    def max_depth(self) -> int:
        """The maximum path length in surface interactions: ``depth``, or the program's own."""
        return int(self.picture_program.depth if self.depth is None else self.depth)

    @property
    def roulette_from(self) -> int | None:
        """The path length from which Russian roulette ends paths: ``roulette``, or of a path tracer whose depth nobody
        has asked for, one that suits it; None: never."""
        if self.roulette != "auto":
            return None if self.roulette is None else int(self.roulette)
        return ROULETTE if self.depth is None and self.picture_program.roulette else None

    def form(self, **scene: Any) -> dict[str, Any]:
        """The keywords that the chosen program is made with, beside those of traversal and first hits: from the
        settings, and from the scene."""
        gather = self.final_gather > 0
        keywords = {"depth": self.max_depth, "kind": self.photon_map, "search": self.search, "gather": gather}
        return self.picture_program.arguments(**keywords, **scene)

    @property
    def search(self) -> str:
        """How radiance estimates look for photons: one of `raystream.kernels.photons.SEARCHES`."""
        return "radius" if self.estimate == "progressive" else "nearest"

    @property
    def stepwise(self) -> bool:
        """Whether every pass is one kernel: the state of a traversal must then fit its record."""
        return self.machine == "multipass" and self.fuse == "none"

    @property
    def passes(self) -> tuple[str, ...]:
        """The settings that decide a program's passes."""
        return tuple(str(self[name]) for name in self._machine() if options.OPTIONS[name].affects == Affects.MACHINE)

    def _machine(self) -> list[str]:
        """The machine's options that are of use to the chosen one."""
        return [name for name in MACHINE if options.OPTIONS[name].useful(self)]

    @property
    def decided(self) -> dict[str, Any]:
        """The values of options that the program decides where they are left to it."""
        return {"depth": self.max_depth, "roulette": self.roulette_from}

    def unused(self, requested: Iterable[str]) -> list[str]:
        """A remark on the options among these names of which the chosen program makes no use."""
        names = (name for name in requested if name in NAMES and self[name] != options.OPTIONS[name].value.default)
        return unused(self.program, names)

    def structure_options(self) -> StructureOptions:
        """How structures are built and traversed."""
        return StructureOptions(**{name: self._values[name] for name in STRUCTURE})

    def sample_uniforms(
        self, shared: bool, samples: int = 1, bounce: int | None = None, first: int = 0
    ) -> dict[str, int | float]:
        """The uniforms of paths and of random numbers in a run that brings every pixel to ``samples``.

        shared : all pixels of a sample have one offset from their centres. bounce : only light of paths of this length
        counts, in surface interactions; None: all. first : the number of the first sample.
        """
        chosen = {name: self._values[name] for name in PATH} | self.decided
        if self.picture_program.maps_photons:
            chosen["strategy"] = "lights"  # what chance finds, photons bring
        chosen["smooth"] = self.picture_program.smooth
        paths = PathSettings(shared=shared, samples=samples, bounce=bounce, **chosen).uniforms
        return {**paths, **sampler_uniforms(self.seed, first)}

    def facts(self) -> dict[str, str]:
        """Metadata of the machine that made a picture."""
        return {name: str(self._values[name]) for name in ("program", *self._machine())}


def unused(program: str, requested: Iterable[str]) -> list[str]:
    """A remark on the options among these names of which a program makes no use."""
    flags = [options.OPTIONS[name].flag for name in requested if not PICTURES[program].uses(name)]
    return [f"program {program} makes no use of {', '.join(flags)}"] if flags else []


def checked(name: str, value: Any) -> Any:
    """The checked value of a renderer's option. Raises ViewerError that names the option and the expected values."""
    if name not in NAMES:
        raise unknown_keyword(name, "Renderer")
    return read_program(value) if name == "program" else options.check(name, value)


def unknown_keyword(name: str, call: str, accepted: Collection[str] = NAMES) -> ViewerError:
    """The error for a keyword that a call does not take: whose it is, or which one may be meant.

    accepted : those that it takes.
    """
    if name in HOMES:
        return ViewerError(f"keyword '{name}'", f"belongs to {HOMES[name]}, not to {call}")
    hint = options.suggest_option(name, [*accepted, *HOMES])
    elsewhere = next((home for other, home in HOMES.items() if f"'{other}'" in hint and other not in accepted), "")
    if elsewhere:
        hint = f"{hint.removesuffix('?')}, of {elsewhere}?"
    return ViewerError(f"keyword '{name}'", f"unknown to {call}", hint)


def _kind(camera: Any) -> str:
    """The kind of a camera's projection; a name may be of any."""
    return str(getattr(camera, "kind", ""))


def _same(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def registered() -> dict[str, Option]:
    """All options by name, with this installation's plugins: programs with their path lengths, layers, tone maps.

    Texts on options (help, docstrings, pages) are made from these; floors below know no names.
    """
    choices = {"program": PICTURES, "layers": WORDS, "tonemap": TONEMAPS}
    completed = {name: options.with_choices(options.OPTIONS[name], tuple(words)) for name, words in choices.items()}
    completed["program"] = completed["program"].with_value(read=lambda _, value: read_program(value))
    return {**options.OPTIONS, **completed, "depth": options.OPTIONS["depth"].with_help(default=_depths())}


Documented = TypeVar("Documented", bound=type)


def documented(renderer: Documented) -> Documented:
    """Decorate the renderer: docstrings and signatures, of itself and of its ``render``, have the options as they are
    declared."""
    render = renderer.render  # type: ignore[attr-defined]
    for described, names in ((renderer, NAMES), (render, options.keywords("render"))):
        texts = options.docstring(names, registered())
        described.__doc__ = f"{cleandoc(described.__doc__ or '')}\n\nOptions:\n\n{texts}\n"
    signature = Signature.from_callable(renderer.__init__)  # type: ignore[misc]
    plain = signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=Signature.empty)
    renderer.__signature__ = options.signature(plain, NAMES)  # type: ignore[attr-defined]
    render.__signature__ = options.signature(Signature.from_callable(render), ())
    return renderer


def _depths() -> str:
    """The maximum path length that programs have, and those of which it is another."""
    programs: dict[int, list[str]] = {}
    for name, program in PICTURES.items():
        if program.depth != PictureProgram.depth and program.uses("depth"):
            programs.setdefault(program.depth, []).append(name)
    parts = (f"of {join_words(names, 'and')} {depth}" for depth, names in sorted(programs.items()))
    return ", ".join((str(PictureProgram.depth), *parts))
