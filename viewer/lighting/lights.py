"""All lights of a scene as one list, chosen by power: the module that provides ``light_sample``.

Power is luminous in the sense of linear sRGB: a triangle's is pi times area times radiance, a point's its intensity
over the sphere, and infinitely distant lights, the environment and directional ones, shine through the disc that
bounds the scene. That overestimates outdoor light in an indoor scene, so that distant lights and near ones each
have at least a fair share (`FAIR_SHARES`).

The environment's share is that of its whole flux for its compensated density, too: one list serves every strategy.
Choices of an environment that then has nothing to sample are lost to the other lights, but cost no shadow ray.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.accel.motion import KEYS, MOTION
from raystream.base.errors import ViewerError
from raystream.base.ordered import distinct
from raystream.kernels.records import FAR, HIT, LIGHT_CONTEXT, LIGHT_SAMPLE
from raystream.lighting import alias
from raystream.lighting.emitters import Emitters, emitters
from raystream.lighting.environment import LEVELS
from raystream.scene.environment import DARKNESS, Environment
from raystream.scene.light import KINDS, DeltaLights, Light, luminance
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

QUANTA = 1 << 24  # possible values of a random number in [0, 1)
MAX_LIGHTS = 1 << 22
FAIR_SHARES = (1 / 8, 1 / 2)  # least and greatest probability of infinitely distant lights, where there are others

KIND = {"triangle": 0, **{name: code for code, name in enumerate(KINDS, 1)}, "sphere": 1 + len(KINDS)}

SHARE = Record("LightShare", Field("first", "int", "quanta", "of the light, where lights follow one another"))

LIGHT = Record(
    "Light",
    Field("kind", "int", about="LIGHT_TRIANGLE and so on", within=SMALL),
    *alias.slot_fields("light"),
    Field("density", "float", "1 / area", about="of choosing a point of this triangle; below zero: both sides shine"),
    Field("position", "vec3", "scene units", "world", "a triangle's first corner, a sphere's centre"),
    # Of lights that are no triangles these are others: `light_direction` and its like in shaders/shading/light.glsl.
    Field(
        "edge1",
        "vec3",
        "",
        "world",
        "from a triangle's first corner to its second; the direction of a spot, and to a directional light; a sphere's "
        "radius, and 1, or -1 where it shines inwards",
    ),
    Field(
        "edge2",
        "vec3",
        "",
        "world",
        "from a triangle's first corner to its third; scale and offset of a spot's falloff",
    ),
    Field("power", "vec3", "linear sRGB", about="radiance, intensity or irradiance, over the probability"),
)


LIGHT_TEXTURED = Record(
    "Light",
    *LIGHT.fields,
    Field("texture", "int", about="that shines there, -1: none", within=ROWS),
    Field("uv", "vec2", about="its coordinates at the first corner"),
    Field("uv_edge1", "vec2", about="their change along the first edge"),
    Field("uv_edge2", "vec2", about="and along the second"),
)

# (some surfaces have emissive textures, some lights move) -> the record of a light.
RECORDS = {
    (textured, moving): Record("Light", *each.fields, KEYS) if moving else each
    for textured, each in enumerate((LIGHT, LIGHT_TEXTURED))
    for moving in (False, True)
}
LIGHT_KEY = Record("LightKey", *(field for field in LIGHT.fields if field.name in ("position", "edge1", "edge2")))
MOVING = "MOVING_LIGHTS"  # feature of the scene


class Sources(NamedTuple):
    """The lights of a list. emitting : surfaces, which are first in the list, in its order. punctual : delta lights.
    listed (E,) : the index in the list of each emissive surface of the scene, -1: left out; with their instance (E,),
    triangle (E,), and starts (I,), see `Emitters`. far_share : probability of infinitely distant lights."""

    emitting: Emitters
    listed: NDArray[np.int64]
    instance: NDArray[np.int32]
    triangle: NDArray[np.int64]
    starts: NDArray[np.int64]
    punctual: DeltaLights
    far_share: float


@dataclass(frozen=True)
class LightList:
    """The list of lights, as tables for the device.

    records (N,) of `LIGHT`, N a power of two; the first ``count`` are lights. probability (count,) with which each is
    chosen. environment_levels of the 2^24 quanta are the environment's, ``levels`` those of each record.
    density (M,) float32, 1 / area: with which a point of a triangle of each material is chosen. Lights of no power are
    left out, and ``warnings`` say so. sources : the lights, for a light tree. keys (M, K) of `LIGHT_KEY`: of
    the M lights that move while the shutter is open; chances, and the light tree, are those of the first.
    """

    records: NDArray
    count: int
    probability: NDArray[np.float64]
    environment_levels: int
    levels: int
    density: NDArray[np.float32]
    warnings: list[str] = field(default_factory=list)
    sources: Sources | None = field(default=None, repr=False)
    keys: NDArray = field(default_factory=lambda: np.zeros((0, 1), LIGHT_KEY.dtype), repr=False)

    def uniforms(self) -> dict[str, int]:
        """The uniforms by which a random number chooses the environment, or a slot of the list."""
        return {"environment_levels": self.environment_levels, "light_levels": self.levels}

    def shares(self) -> Table:
        """The table ``light_shares``, a row for each slot: each light's first quantum, after those of the
        environment."""
        first = np.full(len(self.records), QUANTA, np.int64)  # no light
        quanta = np.rint(self.probability * QUANTA).astype(np.int64)
        first[: self.count] = self.environment_levels + np.cumsum(quanta) - quanta
        rows = np.zeros(len(first), SHARE.dtype)
        rows["first"] = first
        return Table("light_shares", SHARE, rows)

    @property
    def record(self) -> Record:
        """The record of a light: with texture and keys where some light has them."""
        return RECORDS[self.textured, "keys" in (self.records.dtype.names or ())]

    @property
    def textured(self) -> bool:
        """Whether some surfaces have emissive textures."""
        return "texture" in (self.records.dtype.names or ())

    @property
    def lit(self) -> bool:
        """Whether there are lights other than surfaces with emissive textures, which hardly light a scene."""
        rows = self.records[: self.count]
        return bool(len(rows)) and (not self.textured or bool((rows["texture"] < 0).any()))

    @property
    def benefits_from_ris(self) -> bool:
        """Whether resampling (RIS) of direct light pays off: with more than the two triangles of one lamp, the
        environment, and surfaces with emissive textures."""
        rows = self.records[: self.count]
        lamps = rows[rows["texture"] < 0] if self.textured else rows
        return len(lamps) > 2 or (len(lamps) == 2 and bool((lamps["kind"] != KIND["triangle"]).any()))

    @property
    def near(self) -> int:
        """The number of lights that are not infinitely distant."""
        return int(np.count_nonzero(self.records["kind"][: self.count] != KIND["directional"]))

    def kinds(self) -> set[int]:
        """The kinds of light in the list: codes of `KIND`."""
        return set(map(int, distinct(self.records["kind"][: self.count])))

    def module(self) -> Module:
        """The module ``lights``; it needs that of an environment."""
        kinds = self.kinds()
        constants: dict[str, int | float] = {f"LIGHT_{name.upper()}": code for name, code in KIND.items()}
        constants |= {
            "LIGHT_TRIANGLES": int(KIND["triangle"] in kinds),
            "LIGHT_SPHERES": int(KIND["sphere"] in kinds),
            "LIGHT_POINTS": int(bool(kinds & {KIND["point"], KIND["spot"]})),
            "LIGHT_LARGEST": FAR,
        }
        texture_needs = ("texture_color",) if self.textured else ()
        features = {"BOTH_SIDES"} if (self.records["density"] < 0).any() else set()
        features |= {"TEXTURED_LIGHTS"} if texture_needs else set()
        memories, uniforms = [Table("lights", self.record, self.records)], self.uniforms()
        if len(self.keys):
            features |= {MOTION, MOVING}
            memories.append(Table("light_keys", LIGHT_KEY, self.keys.ravel()))
            uniforms["light_segments"] = self.keys.shape[1] - 1
        return Module(
            "lights",
            provides=("light_sample", "environment_pdf", "light_context", "light_choose", "emitter_pdf"),
            source="shading/light_by_power.glsl",
            memories=tuple(memories),
            uniforms={name: ("int", value) for name, value in uniforms.items()},
            constants=constants,
            needs=("environment_radiance", "environment_sample", "environment_density", *texture_needs),
            module_state=Record(LIGHT_CONTEXT.name),
            uses=(LIGHT_SAMPLE, HIT),
            features=frozenset(features),
        )


def light_list(
    emitting: Emitters,
    lights: Sequence[Light] = (),
    environment: Environment = DARKNESS,
    bounds: ArrayLike = ((-1, -1, -1), (1, 1, 1)),
    materials: int = 0,
) -> LightList:
    """The list of all lights: emissive surfaces, delta lights and the environment.

    bounds : (2, 3), the scene's lowest and highest corner. materials : how many the scene has, M of ``density`` (more
    where an emitter says so).
    Raises ViewerError for more lights than can be told apart by one random number.
    """
    warnings: list[str] = []
    triangles, power, density_of, valid = _valid_emitters(emitting, warnings)
    active_lights = [light for light in lights if any(light.intensity)]
    if len(active_lights) < len(lights):
        names = [light.name for light in lights if max(light.intensity) == 0]
        warnings.append(f"without intensity, and left out: {_name_list(names)}")
    delta = DeltaLights.of(active_lights)
    count = len(triangles.corners) + len(delta)
    if count > MAX_LIGHTS:
        hint = "let fewer surfaces shine"
        raise ViewerError("lights", f"{count:,} triangles and lights; {MAX_LIGHTS:,} can be told apart", hint)
    low, high = np.asarray(bounds, np.float64).reshape(2, 3)
    disc = math.pi * max(float(np.linalg.norm(high - low)) / 2, 1e-18) ** 2

    far = delta.far
    punctual = delta.flux * np.where(far, disc, delta.solid_angle)
    near_flux = float(power.sum() + punctual[~far].sum())
    far_flux = float(punctual[far].sum())
    environment_flux = disc * environment.flux
    slots = alias.power_of_two(count)
    environment_levels = _environment_quanta(environment_flux, near_flux + far_flux, max(slots, LEVELS))
    list_probability = 1.0 - environment_levels / QUANTA
    far_share = _fair_share(far_flux, near_flux)
    near_scale = list_probability * (1.0 - far_share) / near_flux if near_flux > 0 else 0.0
    far_scale = list_probability * far_share / far_flux if far_flux > 0 else 0.0

    by_material = np.zeros(max([materials, *(material + 1 for material in density_of)]), np.float64)
    for material, radiance in density_of.items():
        by_material[material] = near_scale * math.pi * radiance
    density = np.minimum(by_material, FAR).astype(np.float32)

    keys, moves = _light_keys(triangles, delta)
    record = RECORDS[triangles.texture is not None, len(keys) > 0]
    records = np.zeros(slots, record.dtype)
    if triangles.texture is not None and triangles.uvs is not None:
        records["texture"] = -1
        first = triangles.uvs[:, 0]
        records["texture"][: len(triangles.texture)] = triangles.texture
        records["uv"][: len(first)] = first
        records["uv_edge1"][: len(first)] = triangles.uvs[:, 1] - first
        records["uv_edge2"][: len(first)] = triangles.uvs[:, 2] - first
    levels = (QUANTA - environment_levels) // slots if count else 0
    if not count:
        return LightList(records, 0, np.zeros(0), environment_levels, 0, density, warnings)
    weights = np.concatenate([power * near_scale, punctual * np.where(far, far_scale, near_scale)])
    table = alias.build(weights, slots, levels)
    probability = table.quanta / QUANTA
    records["threshold"], records["alias"] = table.threshold, table.alias
    if len(keys):
        records["keys"] = -1
        records["keys"][: len(moves)][moves] = np.arange(len(keys)) * keys.shape[1]
    _write_records(records, triangles, delta, probability)
    used = len(triangles.corners)
    if materials:
        records["density"][:used] = density[triangles.material] * (1.0 if triangles.share is None else triangles.share)
    if materials and triangles.both is not None:
        records["density"][:used] *= np.where(triangles.both, -1.0, 1.0)
    sources = Sources(
        triangles,
        np.where(valid, np.cumsum(valid) - 1, -1),
        np.zeros(len(valid), np.int32) if emitting.instance is None else emitting.instance,
        np.arange(len(valid)) if emitting.triangle is None else emitting.triangle,
        np.zeros(1, np.int64) if emitting.starts is None else emitting.starts,
        delta,
        far_share,
    )
    return LightList(records, count, probability, environment_levels, levels, density, warnings, sources, keys)


def light_density(scene: Scene, environment: Environment = DARKNESS) -> NDArray[np.float32]:
    """(M,): for each material the density, 1 / area, with which ``light_sample`` chooses a point of its surface."""
    return scene_lights(scene, environment).density


def scene_lights(scene: Scene, environment: Environment = DARKNESS) -> LightList:
    """The list of a scene's lights, in an environment."""
    return light_list(emitters(scene), scene.lights, environment, scene.bounds(), len(scene.materials))


def _valid_emitters(
    emitting: Emitters, warnings: list[str]
) -> tuple[Emitters, NDArray[np.float64], dict[int, float], NDArray[np.bool_]]:
    """The emitters with area and finite emission; their powers (L,); the luminance of each material's radiance; and
    which (E,) of all emitters these are. warnings : receives those on emitters left out."""
    corners = np.asarray(emitting.corners, np.float32)
    with np.errstate(all="ignore"):
        edges = corners[:, 1:] - corners[:, :1]
        normal = np.cross(edges[:, 0], edges[:, 1])  # in float32, as the device will
        area = np.linalg.norm(normal.astype(np.float64), axis=1) / 2
        sphere = np.zeros(len(corners), bool) if emitting.sphere is None else emitting.sphere
        area[sphere] = 4.0 * math.pi * corners[sphere, 1, 0].astype(np.float64) ** 2
        valid = np.isfinite(area) & (area > 0) & np.isfinite(corners).all(axis=(1, 2))
        finite = np.isfinite(emitting.emission).all(axis=1) & (emitting.emission >= 0).all(axis=1)
    if not valid.all():
        count = int(np.count_nonzero(~valid))
        what = "triangle that should shine has" if count == 1 else "triangles that should shine have"
        warnings.append(f"{count:,} {what} no area, or corners that are not finite; no light comes from there")
    if not finite.all():
        dark_materials = sorted(set(map(int, np.asarray(emitting.material)[~finite])))
        warnings.append(
            f"emission that is negative or not finite, of material {_name_list(map(str, dark_materials))}; it is dark"
        )
    valid &= finite
    if emitting.share is not None:  # a triangle with a black part of a texture is no light
        valid &= emitting.share > 0
    emission, material = np.asarray(emitting.emission)[valid], np.asarray(emitting.material)[valid]
    triangles = Emitters(corners[valid], emission, material, sphere[valid])
    if emitting.keys is not None:
        triangles = triangles._replace(keys=emitting.keys[:, valid])
    radiance = luminance(triangles.emission)
    if emitting.share is not None and emitting.texture is not None and emitting.uvs is not None:
        triangles = triangles._replace(
            texture=emitting.texture[valid], uvs=emitting.uvs[valid], share=emitting.share[valid]
        )
    sides = np.ones(len(material))
    if emitting.both is not None:
        triangles = triangles._replace(both=emitting.both[valid])
        sides[emitting.both[valid]] = 2.0
    materials, first, inverse = np.unique(triangles.material, return_index=True, return_inverse=True)
    differs = (triangles.emission != triangles.emission[first][inverse]).any(axis=1)
    if differs.any():
        raise ValueError(f"emission differs between triangles of material {triangles.material[np.argmax(differs)]}")
    radiance = radiance * sides
    density_of = {int(material): float(radiance[row]) for material, row in zip(materials, first, strict=True)}
    power = math.pi * area[valid] * radiance * (1.0 if triangles.share is None else triangles.share)
    return triangles, power, density_of, valid


def _fair_share(far_flux: float, near_flux: float) -> float:
    """The probability of infinitely distant lights: by flux, but within `FAIR_SHARES` where there are others."""
    if far_flux <= 0 or near_flux <= 0:
        return float(far_flux > 0)
    return min(max(far_flux / (far_flux + near_flux), FAIR_SHARES[0]), FAIR_SHARES[1])


def _environment_quanta(environment_flux: float, list_flux: float, step: int) -> int:
    """Quanta of the environment: a multiple of ``step``, so that all slots of both tables are equally likely."""
    if environment_flux <= 0 or list_flux <= 0:
        return QUANTA if environment_flux > 0 else 0
    requested = round(_fair_share(environment_flux, list_flux) * QUANTA / step)
    return min(max(requested, 1), QUANTA // step - 1) * step


def _write_records(records: NDArray, triangles: Emitters, delta: DeltaLights, probability: NDArray) -> None:
    """Write kind, geometry and power of all lights to ``records``: triangles and spheres, then delta lights."""
    used = len(triangles.corners)
    records["kind"][:used] = KIND["triangle"]
    if triangles.sphere is not None:
        records["kind"][:used][triangles.sphere] = KIND["sphere"]
    _write_corners(records[:used], triangles.corners, triangles.sphere)
    with np.errstate(divide="ignore", invalid="ignore"):  # probability is 0 where a texture is dark
        power = np.minimum(triangles.emission / probability[:used, None], FAR)
    records["power"][:used] = np.where(probability[:used, None] > 0, power, 0.0)
    rows = records[used : used + len(delta)]
    rows["kind"] = np.array([KIND[kind] for kind in KINDS])[delta.kind]
    delta.place(rows)
    rows["power"] = np.minimum(np.divide(delta.intensity, probability[used : used + len(delta), None]), FAR)


def _write_corners(rows: NDArray, corners: NDArray[np.float32], sphere: NDArray[np.bool_] | None) -> None:
    """Write the geometry of triangles and spheres to rows (L,) of `LIGHT` or `LIGHT_KEY`."""
    rows["position"] = corners[:, 0]
    rows["edge1"], rows["edge2"] = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    if sphere is not None:
        rows["edge1"][sphere], rows["edge2"][sphere] = corners[sphere, 1], 0.0


def _light_keys(triangles: Emitters, delta: DeltaLights) -> tuple[NDArray, NDArray[np.bool_]]:
    """The rows (M, K) of `LIGHT_KEY` of the lights that move, and which lights (N,) these are."""
    used = len(triangles.corners)
    moves = np.zeros(used + len(delta), bool)
    motions = [light.motion for light in delta.lights]
    moves[used:] = list(map(bool, motions))
    count = max(map(len, motions), default=0)
    if triangles.keys is not None:
        moves[:used] = (triangles.keys != triangles.keys[:1]).any(axis=(0, 2, 3))
        count = len(triangles.keys)
    if not moves.any():
        return np.zeros((0, 1), LIGHT_KEY.dtype), moves
    rows = np.zeros((len(moves), count), LIGHT_KEY.dtype)
    for key in range(count):
        if triangles.keys is not None:
            _write_corners(rows[:used, key], triangles.keys[key], triangles.sphere)
        moving = [motion[key] for motion in motions if motion]
        delta_rows = rows[used:, key][moves[used:]]
        DeltaLights.of(moving).place(delta_rows)
        rows[used:, key][moves[used:]] = delta_rows
    return rows[moves], moves


def _name_list(names: Sequence[str] | Any) -> str:
    """The first three names, and how many more there are."""
    listed = list(names)
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
