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
from raystream.renderer.inputs.program_file import program_path, read_program

if TYPE_CHECKING:
    from typing import Unpack

    from raystream.options.typed import SettingKeywords

NAMES = tuple(options.keywords("renderer"))
STRUCTURE = tuple(options.keywords("prepare"))
MACHINE = tuple(options.names_of_part("machine"))
PATH = tuple(name for name in signature(PathSettings).parameters if name in NAMES)
VIEW = tuple(options.names_of_part("camera"))  # the camera follows from these and the scene
# Options by which a scene is prepared, before any OpenGL.
PREPARED = tuple(name for name in options.names_of_part("structure", "scene", "light") if name in NAMES)
# Keyword -> the call that takes it, where that is not the renderer's constructor.
TAKERS = {
    **dict.fromkeys((*options.keywords("render"), "stats"), "Renderer.render"),
    **dict.fromkeys(options.keywords("save"), "Picture.save"),
    **dict.fromkeys(("moment", "animation"), "Renderer.update"),
}


class Settings(SettingValues, Mapping[str, Any]):
    """A value for every option of `raystream.Renderer`, checked, by name and as an attribute: ``settings.program``. It
    never changes: `replace` makes another one. Two are equal where all their values are. Raises ViewerError for an
    unknown option and a value out of range."""

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
        program = program_path(self.program) or self.program  # its file, which another process reads for itself
        return partial(Settings, **{**self._values, "program": program}), ()

    def replace(self, **changes: Unpack[SettingKeywords]) -> Settings:
        """The same with other values, which are checked; itself where nothing differs. Raises ViewerError for an
        unknown option and a value out of range."""
        changed = {name: checked(name, value) for name, value in changes.items()}
        if all(_equal(value, self._values[name]) for name, value in changed.items()):
            return self
        return self._with_checked(changed)

    def _with_checked(self, changed: Mapping[str, Any]) -> Settings:
        """The same with other values, which are checked already."""
        settings: Settings = object.__new__(Settings)
        object.__setattr__(settings, "_values", {**self._values, **changed})
        return settings

    def differences(self, other: Settings) -> dict[str, Affects]:
        """The options whose values differ -> the part of a renderer that each affects."""
        differ = [name for name in NAMES if not _equal(self._values[name], other[name])]
        effects = {name: options.OPTIONS[name].affects for name in differ}
        if "camera" in effects and _projection_of(self.camera) != _projection_of(other.camera):
            effects["camera"] = Affects.PROGRAM
        form = self.form()
        for name in [name for name, affects in effects.items() if affects == Affects.UNIFORMS and name not in VIEW]:
            if self._with_checked({name: other[name]}).form() != form:
                effects[name] = Affects.PROGRAM  # states or streams follow from it
        return effects

    # -- derived values --------------------------------------------------------------------------------------------

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
        """The path length from which Russian roulette may end paths; None: never. ``auto`` means `ROULETTE` for
        programs with roulette at their default depth."""
        if self.roulette != "auto":
            return None if self.roulette is None else int(self.roulette)
        return ROULETTE if self.depth is None and self.picture_program.roulette else None

    def form(self, **scene: Any) -> dict[str, Any]:
        """The keywords that the chosen program is made with, but traversal and first hits: the settings', and those of
        ``scene`` that the program takes."""
        gather = self.final_gather > 0
        keywords = {"depth": self.max_depth, "kind": self.photon_map, "search": self.search, "gather": gather}
        return self.picture_program.arguments(**keywords, **scene)

    @property
    def search(self) -> str:
        """How radiance estimates look for photons: one of `raystream.kernels.photons.SEARCHES`."""
        return "radius" if self.estimate == "progressive" else "nearest"

    @property
    def stepwise(self) -> bool:
        """Whether every pass is a single kernel, so that streams hold the traversal's state between its steps."""
        return self.machine == "multipass" and self.fuse == "none"

    @property
    def passes(self) -> tuple[str, ...]:
        """The values of the options that decide how a program is cut into passes."""
        return tuple(
            str(self[name]) for name in self._machine_options() if options.OPTIONS[name].affects == Affects.MACHINE
        )

    def _machine_options(self) -> list[str]:
        """The options of machines that have an effect on the chosen one."""
        return [name for name in MACHINE if options.OPTIONS[name].useful(self)]

    @property
    def resolved_values(self) -> dict[str, Any]:
        """The values of options whose default depends on the program."""
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
        path_options = {name: self._values[name] for name in PATH} | self.resolved_values
        if self.picture_program.maps_photons:
            path_options["strategy"] = "lights"  # photons bring the light that BSDF samples would find
        path_options["smooth"] = self.picture_program.smooth
        paths = PathSettings(shared=shared, samples=samples, bounce=bounce, **path_options).uniforms
        return {**paths, **sampler_uniforms(self.seed, first)}

    def facts(self) -> dict[str, str]:
        """The program and the machine's options, as text, for a picture's metadata."""
        return {name: str(self._values[name]) for name in ("program", *self._machine_options())}


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
    """The error for a keyword that ``call`` does not take: which call takes it, or which keyword is similar.
    accepted : the keywords that ``call`` takes."""
    if name in TAKERS:
        return ViewerError(f"keyword '{name}'", f"belongs to {TAKERS[name]}, not to {call}")
    hint = options.suggest_option(name, [*accepted, *TAKERS])
    elsewhere = next((home for other, home in TAKERS.items() if f"'{other}'" in hint and other not in accepted), "")
    if elsewhere:
        hint = f"{hint.removesuffix('?')}, of {elsewhere}?"
    return ViewerError(f"keyword '{name}'", f"unknown to {call}", hint)


def _projection_of(camera: Any) -> str:
    """The kind of a camera's projection; empty for a camera's name."""
    return str(getattr(camera, "kind", ""))


def _equal(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def registered() -> dict[str, Option]:
    """All options by name, with the programs, layers and tone maps of this installation's plugins as choices. Help,
    docstrings and pages on options are made from these."""
    choices = {"program": PICTURES, "layers": WORDS, "tonemap": TONEMAPS}
    completed = {name: options.with_choices(options.OPTIONS[name], tuple(words)) for name, words in choices.items()}
    completed["program"] = completed["program"].with_value(read=lambda _, value: read_program(value))
    return {**options.OPTIONS, **completed, "depth": options.OPTIONS["depth"].with_help(default=_default_depths())}


Documented = TypeVar("Documented", bound=type)


def documented(renderer: Documented) -> Documented:
    """A decorator of the renderer: adds the declared options to the docstrings and signatures of the class and of its
    ``render``."""
    render = renderer.render  # type: ignore[attr-defined]
    for described, names in ((renderer, NAMES), (render, options.keywords("render"))):
        texts = options.docstring(names, registered())
        described.__doc__ = f"{cleandoc(described.__doc__ or '')}\n\nOptions:\n\n{texts}\n"
    signature = Signature.from_callable(renderer.__init__)  # type: ignore[misc]
    parameters = list(signature.parameters.values())[1:]  # without self
    class_signature = signature.replace(parameters=parameters, return_annotation=Signature.empty)
    renderer.__signature__ = options.signature(class_signature, NAMES)  # type: ignore[attr-defined]
    render.__signature__ = options.signature(Signature.from_callable(render), ())
    return renderer


def _default_depths() -> str:
    """The default of ``depth`` as text: the usual one, and the programs with another one."""
    programs: dict[int, list[str]] = {}
    for name, program in PICTURES.items():
        if program.depth != PictureProgram.depth and program.uses("depth"):
            programs.setdefault(program.depth, []).append(name)
    exceptions = (f"of {join_words(names, 'and')} {depth}" for depth, names in sorted(programs.items()))
    return ", ".join((str(PictureProgram.depth), *exceptions))
