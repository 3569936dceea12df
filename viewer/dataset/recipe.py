"""A recipe of a dataset: the values of its TOML file, declared and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from raystream.base.errors import ViewerError
from raystream.dataset import fields as f
from raystream.dataset.fields import MAX_COORDINATE, Span, Vector, by
from raystream.film.tonemap import TONEMAPS
from raystream.options.declare import suggestion
from raystream.options.table import check, keywords, names_of_part
from raystream.renderer.inputs.program_file import EXTENSION
from raystream.renderer.inputs.settings import NAMES, Settings
from raystream.scene.projections import Intrinsics

FORMATS = ("coco", "bop", "nerf")
# Layers of the EXR beside a picture: of pixels' centres.
LAYERS = ("depth", "normal", "flow", "position", "albedo", "uv", "object", "material", "class", "triangle")
MAX_PICTURES = 1_000_000  # scenes, and pictures: file names have six digits
MAX_COPIES = 4096  # in a scene: a mask each
MAX_RECIPE_BYTES = 16 << 20  # of a recipe's file
# What the recipe says itself, or what is of one picture alone.
RESERVED = {"camera", "environment", "environment_rotation", "sun", "seed", "light", "variant", "classic", "device"}


@dataclass(frozen=True)
class Model:
    """A model that stands in the scenes.

    file : of a model, from the recipe's folder, or the name of a built-in scene. name : by default the file's.
    category : of COCO; by default the semantic class in the file, else the name. size : the longest side of its box,
    scene units, a range; None: as in the file. count : copies in a scene, a range. split : each object of the file is
    one of the dataset. annotate : whether it is one at all.
    """

    file: str = field(metadata=by(f.text()))
    name: str = field(default="", metadata=by(f.text(f.MAX_NAME_BYTES)))
    category: str = field(default="", metadata=by(f.text(f.MAX_NAME_BYTES)))
    size: Span | None = field(default=None, metadata=by(f.span(f.number(0, MAX_COORDINATE, above=True))))
    count: tuple[int, int] = field(default=(1, 1), metadata=by(f.span(f.whole(0, MAX_COPIES))))
    split: bool = field(default=False, metadata=by(f.flag))
    annotate: bool = field(default=True, metadata=by(f.flag))


@dataclass(frozen=True)
class Poses:
    """Placement of the models, drawn for every scene.

    area : a box of positions of the models' middles, or with ``rest`` of their lowest points along y. turn : about +Y
    alone, any rotation, or none. apart : of several positions that of most room to the others.
    """

    area: tuple[Vector, Vector] = field(default=((-0.5, 0.0, -0.5), (0.5, 0.0, 0.5)), metadata=by(f.box))
    turn: str = field(default="upright", metadata=by(f.word("upright", "any", "none")))
    rest: bool = field(default=True, metadata=by(f.flag))
    apart: bool = field(default=True, metadata=by(f.flag))


@dataclass(frozen=True)
class Cameras:
    """Where the cameras are: on a shell around the models' middle.

    distance : from there, scene units. elevation, azimuth : degrees, above the horizon, and about +Y from +Z towards
    +X. roll : degrees. aside : radius of a ball around the middle in which targets lie. path : random places, or an
    orbit through the azimuths in even steps. fov : vertical, degrees. intrinsics : (fx, fy, cx, cy) in pixels, (0, 0)
    the centre of the upper left one, in place of fov. distortion : OpenCV's coefficients of it.
    """

    distance: Span = field(metadata=by(f.span(f.number(0, MAX_COORDINATE, above=True))))
    elevation: Span = field(default=(10.0, 60.0), metadata=by(f.span(f.number(-90, 90))))
    azimuth: Span = field(default=(0.0, 360.0), metadata=by(f.span(f.number(-360, 360))))
    roll: Span = field(default=(0.0, 0.0), metadata=by(f.span(f.number(-180, 180))))
    aside: float = field(default=0.0, metadata=by(f.number(0, MAX_COORDINATE)))
    path: str = field(default="random", metadata=by(f.word("random", "orbit")))
    fov: float = field(default=45.0, metadata=by(f.number(1, 170)))
    intrinsics: tuple[float, ...] | None = field(default=None, metadata=by(f.items(f.number(), 4, 4)))
    distortion: tuple[float, ...] = field(default=(), metadata=by(f.items(f.number(), 4, 8)))

    def measured_projection(self, size: tuple[int, int]) -> Intrinsics | None:
        """The projection of ``intrinsics`` for pictures of ``size`` (width, height) pixels; None if the recipe gives a
        field of view. Raises ViewerError for wrong numbers."""
        if self.intrinsics is None:
            return None
        fx, fy, cx, cy = self.intrinsics
        return Intrinsics(fx, fy, cx, cy, size, self.distortion)


@dataclass(frozen=True)
class Lights:
    """Point lights of a scene, on a shell around the models' middle.

    irradiance : at the middle, W/m^2, across the direction. colors : linear sRGB, one of which each has.
    """

    count: tuple[int, int] = field(default=(0, 0), metadata=by(f.span(f.whole(0, 64))))
    distance: Span | None = field(default=None, metadata=by(f.span(f.number(0, MAX_COORDINATE, above=True))))
    elevation: Span = field(default=(30.0, 80.0), metadata=by(f.span(f.number(-90, 90))))
    azimuth: Span = field(default=(0.0, 360.0), metadata=by(f.span(f.number(-360, 360))))
    irradiance: Span = field(default=(1.0, 4.0), metadata=by(f.span(f.number(0, 1e6))))
    colors: tuple[Vector, ...] = field(default=((1.0, 1.0, 1.0),), metadata=by(f.items(f.vector(f.number(0, 1)), 1)))


def _read_environment(value: Any) -> Any:
    """A radiance (r, g, b), or a text: none, sky, studio, or a file."""
    return f.vector(f.number(0, 1e6))(value) if isinstance(value, list) else f.text()(value)


@dataclass(frozen=True)
class Environments:
    """The environment of a scene: one of ``choices`` (none, sky, studio, a picture's file from the recipe's folder, or
    a radiance), turned about +Y by ``rotation``, degrees; the sky's sun is at an elevation of ``sun``, degrees."""

    choices: tuple[str | Vector, ...] = field(default=("studio",), metadata=by(f.items(_read_environment, 1)))
    rotation: Span = field(default=(0.0, 360.0), metadata=by(f.span(f.number(-360, 360))))
    sun: Span = field(default=(20.0, 70.0), metadata=by(f.span(f.number(0, 90))))


def _unchanged(value: Any) -> Any:
    """The reader of a table that `parse_recipe` has converted already: it names the file in messages."""
    return value


@dataclass(frozen=True)
class DatasetRecipe:
    """All of a recipe. A picture's number is its scene's times ``views`` and the number of its view.

    seed : of everything that is drawn. scenes : arrangements of models and light. views : pictures of each. size :
    (width, height). formats, layers : of the files. depth_scale : mm for a step of a depth's PNG; None: by the
    cameras' distance. render : options of `raystream.Renderer` and of its pictures.
    """

    models: tuple[Model, ...] = field(metadata=by(_unchanged))
    cameras: Cameras = field(metadata=by(_unchanged))
    seed: int = field(default=0, metadata=by(f.whole(0, (1 << 63) - 1)))
    scenes: int = field(default=1, metadata=by(f.whole(1, MAX_PICTURES)))
    views: int = field(default=1, metadata=by(f.whole(1, MAX_PICTURES)))
    size: tuple[int, int] = field(default=(640, 480), metadata=by(f.items(f.whole(1, 16384), 2, 2)))
    formats: tuple[str, ...] = field(default=FORMATS, metadata=by(f.distinct(f.word(*FORMATS), 1)))
    layers: tuple[str, ...] = field(default=("depth", "normal", "flow"), metadata=by(f.distinct(f.word(*LAYERS))))
    depth_scale: float | None = field(default=None, metadata=by(f.number(0, 1000, above=True)))
    poses: Poses = field(default_factory=Poses, metadata=by(_unchanged))
    lights: Lights = field(default_factory=Lights, metadata=by(_unchanged))
    environment: Environments = field(default_factory=Environments, metadata=by(_unchanged))
    render: Mapping[str, Any] = field(default_factory=dict, metadata=by(_unchanged))
    name: str = "recipe"  # of its file, for messages
    folder: str = "."  # which files are named from

    @property
    def pictures(self) -> int:
        """How many there are."""
        return self.scenes * self.views


KEYS = {item.name for item in fields(DatasetRecipe) if item.metadata}
TABLES = {"cameras": Cameras, "poses": Poses, "lights": Lights, "environment": Environments}
RENDERING = {"spp": 8, "denoise": "shader", "exposure": 0.0, "tonemap": "agx", "ground": "none"}  # unless given


def read_recipe(path: str) -> DatasetRecipe:
    """The recipe of a file. Raises ViewerError, in one line, for an unreadable or an invalid one."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_RECIPE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ViewerError(f.echo(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_RECIPE_BYTES:
        raise ViewerError(path, f"has more than {MAX_RECIPE_BYTES:,} bytes", "is it a recipe?")
    try:
        tables = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # of both, encoding and TOML
        raise ViewerError(path, f"is no TOML: {str(error)[:200]}", "see https://toml.io") from None
    return parse_recipe(tables, path, str(Path(path).resolve().parent))


def parse_recipe(tables: dict[str, Any], name: str, folder: str) -> DatasetRecipe:
    """The recipe of a file's TOML tables. name : of the file, for messages. folder : that its paths start from."""
    _check_stray_keys(tables, name)
    read_tables: dict[str, Any] = dict(tables)
    if "models" in tables:
        models = tables["models"]
        if not isinstance(models, list):
            raise ViewerError(f"{name}: models", "expected tables of models", "write [[models]]")
        if not 1 <= len(models) <= MAX_COPIES:
            raise ViewerError(f"{name}: models", f"{len(models):,} of them; expected 1 to {MAX_COPIES:,}")
        read_tables["models"] = tuple(f.table(Model, f"{name}: models[{k}]", table) for k, table in enumerate(models))
    for key, kind in TABLES.items():
        if key in tables:
            read_tables[key] = f.table(kind, f"{name}: {key}", tables[key])
    read_tables["render"] = render_options(tables.get("render", {}), f"{name}: render")
    recipe = replace(f.table(DatasetRecipe, name, read_tables), name=name, folder=folder)
    _check(recipe)
    return recipe


def _check_stray_keys(tables: dict[str, Any], name: str) -> None:
    """Raise ViewerError for a key of the recipe itself in one of its tables: TOML gives a table all that follows it."""
    for key, value in tables.items():
        kind = {**TABLES, "models": Model}.get(key)
        keys = {item.name for item in fields(kind)} if kind else set()
        for table in value if isinstance(value, list) else [value]:
            strays = [stray for stray in table if stray in KEYS - keys] if isinstance(table, dict) else []
            if strays:
                where = f"{name}: {key}: {strays[0]}"
                raise ViewerError(where, "is a key of the recipe itself", "write it above the first [table]")


def render_options(chosen: Any, where: str) -> dict[str, Any]:
    """The checked options of the table ``render``, with `RENDERING` for those not given. where : for messages."""
    if not isinstance(chosen, dict):
        raise ViewerError(where, f"{f.echo(chosen)} is no table of options")
    reserved = RESERVED | set(names_of_part("camera"))
    accepted = [name for name in keywords("renderer") if name not in reserved]
    accepted += ["spp", *keywords("save")]
    values = dict(RENDERING)
    for key, value in chosen.items():
        if key in reserved:
            raise ViewerError(f"{where}: {key}", "is no option of a recipe's pictures", "cameras, lights, environment")
        if key not in accepted:
            raise ViewerError(where, f"unknown option {f.echo(key)}", suggestion(key[: f.MAX_ECHO_LENGTH], accepted))
        if key == "program" and str(value).endswith(EXTENSION):
            raise ViewerError(f"{where}: {key} {f.echo(value)}", "is a file", "a recipe takes a program by its name")
        try:
            check(key, value, TONEMAPS if key == "tonemap" else ())
            Settings(**({key: value} if key in NAMES else {}))
        except ViewerError as error:
            raise ViewerError(f"{where}: {key} {f.echo(value)}", error.what, error.hint) from None
        values[key] = value
    return values


def _check(recipe: DatasetRecipe) -> None:
    """Raise ViewerError for values that each are right, but not together."""
    name, cameras = recipe.name, recipe.cameras
    if recipe.pictures > MAX_PICTURES:
        raise ViewerError(
            name, f"{recipe.scenes:,} scenes of {recipe.views:,} views", f"at most {MAX_PICTURES:,} pictures"
        )
    max_copies = sum(model.count[1] for model in recipe.models)
    if max_copies > MAX_COPIES:
        raise ViewerError(f"{name}: models", f"up to {max_copies:,} copies in a scene", f"at most {MAX_COPIES:,}")
    if cameras.distortion and cameras.intrinsics is None:
        raise ViewerError(f"{name}: cameras: distortion", "needs intrinsics", "intrinsics = [fx, fy, cx, cy]")
    if cameras.intrinsics is not None:
        try:
            cameras.measured_projection(recipe.size)
        except ViewerError as error:
            raise ViewerError(f"{name}: cameras: intrinsics", error.what, error.hint) from None
    if "bop" in recipe.formats:
        if any(cameras.distortion):
            raise ViewerError(f"{name}: cameras: distortion", "BOP has no distortion", 'leave "bop" out of formats')
        for index, model in enumerate(recipe.models):
            if model.annotate and model.size is not None and model.size[0] < model.size[1]:
                where = f"{name}: models[{index}]: size"
                raise ViewerError(where, "BOP's poses have no scale, so that a model has one size", "give one number")
    if "nerf" in recipe.formats and len(cameras.distortion) > 5:
        raise ViewerError(f"{name}: cameras: distortion", "NeRF's files hold k1, k2, p1, p2, k3 alone", "give five")
    if "nerf" in recipe.formats and recipe.render["exposure"] == "auto":
        where = f"{name}: render: exposure"
        raise ViewerError(where, "auto differs from picture to picture, which NeRF takes for light", "give a number")
