"""The lighting of a scene: its environment, its emitters and lights as a list, and the modules of both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.ordered import quantile
from raystream.cameras.lens import constant_environment
from raystream.film.tonemap import MIDDLE, automatic_exposure
from raystream.formats.image.environment_maps import DARKNESS, resolve_environment
from raystream.lighting.ambient import Ambient, ambient, each_light, in_world, turned
from raystream.lighting.backdrop import Backdrop, Floor, backdrop_modules, backdrop_of, floor_under, rotated_modules
from raystream.lighting.emitters import Emitters, emitters
from raystream.lighting.environment import environment as environment_module
from raystream.lighting.environment import environment_uniforms
from raystream.lighting.light_tree import tree_modules
from raystream.lighting.lights import LightList, scene_lights
from raystream.lighting.path import candidate_settings, occlusion_settings, path_settings, whitted_settings
from raystream.lighting.photons import photon_modules
from raystream.lighting.sampler import sampler as sampler_module
from raystream.renderer.inputs.scene_diff import SceneChanges
from raystream.renderer.inputs.settings import Settings
from raystream.scene.edits.framed import is_single_object
from raystream.scene.environment import IRRADIANCE, SCALE, SUN, Environment, ImageEnvironment, sky, studio, sunlight
from raystream.scene.geometry.bounds import SHADOW
from raystream.scene.geometry.triangles import SurfacePoints, surface_points
from raystream.scene.light import Light, luminance
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module

# -- light that comes with a scene -------------------------------------------------------------------------------------

Float = NDArray[np.float64]

ALBEDO = 0.5  # of the surfaces, whose colours do not count
DARK_LUMINANCE = MIDDLE / 16  # luminance at the picture's exposure that looks black
FAINT = 4.0  # stops by which a picture of lights that are too faint has to be brightened
MOST_DARK = 0.25  # share of the surface that may be as dark, as in the shade of a lamp
FILL = 0.25  # of the light of the scene's own lights, the key: that of the studio beside them
KEY, SHADE = 0.75, 0.1  # quantiles of the light on surfaces that stand for the key's and for the shade's
LEAST_FILL = 1 / 8  # of the key's light, in the shade of a single object that lacks no fill
MOST_LEVEL = 2.0**40  # of an environment, whose radiance has a limit
LIGHTS = 1 << 10  # of very many lights without extent, by power, that stand for all of them
EMITTERS = 128  # of emissive surfaces, by power, that stand for all of them
HIGH = 0.75  # of the scene's height: surfaces above that face down are a roof
ROOF = 0.5  # share of the floor plan under a roof
SECTORS, WALLS = 12, 9  # around a camera, and in how many of them walls rise around one that is within
BLUE = 2  # channel of glTF's metalness
LOOKED_AT = 64  # texels of a texture along each side
RISE = math.sin(math.radians(10.0))
OPENINGS = 1 / 6  # of the light of the open that reaches the surfaces of a room; the built-in hall's has 0.18
REFLECTED = 2.0  # times the light of a room's own lights, with what its surfaces reflect


class DefaultEnvironment(NamedTuple):
    """An environment beside a scene's own lights: the ``studio``, or the ``sky`` of a sun at elevation and azimuth,
    degrees, which is one of these lights; with a factor on its light; or ``none``, of a scene in the open that lacks no
    light, but a backdrop. tone : factor on the gradient, which is as bright beside surfaces lit by all of these as it
    is in the studio alone."""

    name: str
    level: float
    sun: tuple[float, float] | None = None
    tone: float = 1.0


def default_environment(scene: Scene) -> DefaultEnvironment | None:
    """The environment that a scene with lights of its own needs; where these are enough, ``none`` with the tone of a
    gradient in the open, and None in a room or under a roof.

    A single object, and a place in the open, needs the studio where much of the surface stays black, and a single
    object where its lights are faint or a key without a fill; those that are a part of the object, as of a lamp, do not
    count. A room that only a sun lights needs the sky, and so does a place in the open. Nothing else is seen through
    the openings of a room but darkness.
    """
    surface = surface_points(scene.meshes, scene.instances)
    if not len(surface.points):
        return None
    emitting, bounds = emitters(scene), scene.bounds()
    eye, lights = np.array(scene.camera().origin), _lights(scene)
    single_object = is_single_object(scene)
    sunlit = not len(emitting.corners) and only_suns(lights)
    if not single_object and _walled(surface, eye):
        return sky_of(lights) if sunlit else None
    if not single_object and _roofed(surface, bounds):
        return None
    facing = _facing(surface, eye)
    if not facing.any():
        return None
    points, normals = surface.points[facing], surface.normals[facing]
    total = around = irradiance(points, normals, lights, emitting)
    if single_object:
        positions = np.array([light.position for light in lights]).reshape(-1, 3)
        within = ((bounds[0] <= positions) & (positions <= bounds[1])).all(axis=1).tolist()
        outer = [light for light, inner in zip(lights, within, strict=True) if light.kind == "directional" or not inner]
        if len(outer) < len(lights) or len(emitting.corners):
            around = irradiance(points, normals, outer, None)
    if not (
        _shown(around * _diffuse(scene)[surface.materials[facing]]) and (not single_object or _key_and_fill(around))
    ):
        return _default_studio(total)
    if sunlit and not single_object:
        return sky_of(lights)
    return DefaultEnvironment("none", 0.0, tone=min(_key(total) / IRRADIANCE, MOST_LEVEL))


def white_radiance(scene: Scene, open_air: float | None = None) -> float:
    """About the radiance of a white surface that the default view faces, at a glance: 1 under the default sky and in
    the studio. open_air : that under an environment, in the open; None: the scene's own lights light it, with the
    environment that it needs beside them."""
    default = default_environment(scene) if open_air is None and scene.fills else None
    if default is not None:
        return default.level if default.name == "sky" else default.tone
    if open_air is not None and is_single_object(scene):
        return open_air
    surface, eye = surface_points(scene.meshes, scene.instances), np.array(scene.camera().origin)
    if open_air is not None:
        return open_air * (OPENINGS if _walled(surface, eye) else 1.0)
    facing = _facing(surface, eye)
    light = irradiance(surface.points[facing], surface.normals[facing], _lights(scene), emitters(scene))
    return min(REFLECTED * _key(light) / IRRADIANCE, MOST_LEVEL) if light.any() else 1.0


def _lights(scene: Scene) -> list[Light]:
    """Those that shine."""
    return [light for light in scene.lights if any(light.intensity)]


def _facing(surface: SurfacePoints, eye: Float) -> NDArray[np.bool_]:
    """(N,): the points whose front faces an eye, hidden ones included."""
    return np.asarray(((eye - surface.points) * surface.normals).sum(axis=1) > 0)


def _key(light: Float) -> float:
    """The key light's of irradiances (N,)."""
    return quantile(np.sort(light), KEY)  # `np.quantile` loads libraries, for which a first picture would wait


def _shown(light: Float) -> bool:
    """Whether irradiances (N,) show most of the surface at the exposure of a picture of it."""
    radiance = light * (ALBEDO / math.pi)
    return float((radiance * 2.0 ** automatic_exposure(radiance) < DARK_LUMINANCE).mean()) <= MOST_DARK


def _key_and_fill(light: Float) -> bool:
    """Whether the lights behind irradiances (N,) are a key and its fill, as in a studio, and not faint."""
    shade, key = quantile(np.sort(light), SHADE), _key(light)
    return bool(shade >= LEAST_FILL * key) and not _faint(light)


def _faint(light: Float) -> bool:
    """Whether a picture of irradiances (N,) has to be brightened a lot, or is black."""
    return not light.any() or automatic_exposure(light * (ALBEDO / math.pi)) > FAINT


def _default_studio(light: Float) -> DefaultEnvironment:
    """The studio as the fill to the key of irradiances (N,), of which those of unlit points are 0; of faint ones as it
    is without them."""
    if _faint(light):
        return DefaultEnvironment("studio", 1.0)
    level = FILL * _key(light[light > 0]) / math.pi
    level = min(2.0 ** (round(4 * math.log2(level)) / 4), MOST_LEVEL)
    return DefaultEnvironment("studio", level, tone=level * (1 + math.pi / (FILL * IRRADIANCE)))


def _diffuse(scene: Scene) -> Float:
    """(M,): of each material the part that is no metal; metals show their surroundings, and delta lights hardly at
    all."""
    diffuse = np.ones(len(scene.materials))
    for index, material in enumerate(scene.materials):
        if material.kind == "principled":
            diffuse[index] = 1.0 - material.metallic * _mean(scene, material.metallic_roughness_texture, BLUE)
    return diffuse


def _mean(scene: Scene, texture: int | None, channel: int) -> float:
    """The mean of a texture's channel, in its units of 0 to 1; 1 without one."""
    if texture is None:
        return 1.0
    texels = scene.textures[texture].image.texels
    skips = [max(1, side // LOOKED_AT) for side in texels.shape[:2]]
    some = texels[:: skips[0], :: skips[1], channel].astype(np.float64)
    return float(some.mean()) / {"uint8": 255.0, "uint16": 65535.0}.get(texels.dtype.name, 1.0)


def only_suns(lights: Sequence[Light]) -> bool:
    """Whether there are lights, and all of them are directional."""
    return bool(lights) and all(light.kind == "directional" for light in lights)


def sky_of(lights: Sequence[Light]) -> DefaultEnvironment:
    """The sky around a sun, the brightest of directional lights, as bright as that is beside the sky's own."""
    sun = max(lights, key=lambda light: float(luminance(light.intensity)))
    x, y, z = (-component for component in sun.direction)
    if y <= 0:  # from below the horizon: no sun
        return DefaultEnvironment("sky", 1.0)
    sky_luminance = float(luminance(sunlight(math.asin(min(y, 1.0))))) * SCALE
    place = math.degrees(math.asin(min(y, 1.0))), math.degrees(math.atan2(x, z))
    return DefaultEnvironment("sky", min(float(luminance(sun.intensity)) / sky_luminance, MOST_LEVEL), place)


def irradiance(points: Float, normals: Float, lights: Sequence[Light], emitting: Emitters | None) -> Float:
    """(N,): luminance of the irradiance at points (N, 3) with unit normals (N, 3), unshadowed, W/m^2."""
    total = np.zeros(len(points))
    for light, weight in _standing(lights):
        power = float(luminance(light.intensity)) * weight
        if light.kind == "directional":
            total += power * np.maximum(normals @ -np.array(light.direction), 0.0)
            continue
        away = np.array(light.position) - points
        square = np.maximum((away * away).sum(axis=1), 1e-30)
        towards = away / np.sqrt(square)[:, None]
        if light.kind == "spot":
            scale, offset = light.falloff
            power = power * np.clip((towards @ -np.array(light.direction)) * scale + offset, 0.0, 1.0) ** 2
        total += power * np.maximum((towards * normals).sum(axis=1), 0.0) / square
    return total if emitting is None else total + _from_emitters(points, normals, emitting)


def _standing(lights: Sequence[Light]) -> list[tuple[Light, float]]:
    """The lights and the number of times that each counts: of very many some by luminance, all with one power."""
    if len(lights) <= LIGHTS:
        return [(light, 1.0) for light in lights]
    power = luminance(np.array([light.intensity for light in lights]))
    ends = np.cumsum(power)
    chosen = np.searchsorted(ends, (np.arange(LIGHTS) + 0.5) / LIGHTS * ends[-1], side="right")
    return [(lights[k], float(ends[-1] / LIGHTS / power[k])) for k in np.minimum(chosen, len(lights) - 1).tolist()]


def _from_emitters(points: Float, normals: Float, emitting: Emitters) -> Float:
    """As `irradiance`, of emissive triangles, each as if all of it were at its centre, and spheres."""
    corners = emitting.corners.astype(np.float64)
    if not len(corners):
        return np.zeros(len(points))
    round_ = np.zeros(len(corners), bool) if emitting.sphere is None else emitting.sphere
    with np.errstate(all="ignore"):
        area_normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.where(round_, math.pi * corners[:, 1, 0] ** 2, np.linalg.norm(area_normals, axis=1) / 2)
        power = area * luminance(emitting.emission) * (1.0 if emitting.share is None else emitting.share)
    power = np.where(np.isfinite(power), np.maximum(power, 0.0), 0.0)
    ends = np.cumsum(power)
    if not ends[-1] > 0:
        return np.zeros(len(points))
    chosen = np.searchsorted(ends, (np.arange(EMITTERS) + 0.5) / EMITTERS * ends[-1], side="right")
    total, sample_power = np.zeros(len(points)), ends[-1] / EMITTERS
    for k in np.minimum(chosen, len(ends) - 1).tolist():
        center = corners[k, 0] if round_[k] else corners[k].mean(axis=0)
        away = center - points
        square = np.maximum((away * away).sum(axis=1), area[k] / math.pi)  # no more than from all around
        towards = away / np.sqrt(square)[:, None]
        leaving = np.ones(len(points))
        if not round_[k]:
            leaving = -(towards @ area_normals[k]) / (2 * area[k])
            leaving = np.abs(leaving) if emitting.both is not None and emitting.both[k] else np.maximum(leaving, 0.0)
        total += sample_power * leaving * np.maximum((towards * normals).sum(axis=1), 0.0) / square
    return total


def _roofed(surface: SurfacePoints, bounds: Float) -> bool:
    """Whether surfaces high up that face down cover much of the floor plan."""
    low, high = bounds
    plan = float((high - low)[0] * (high - low)[2])
    above = surface.points[:, 1] > low[1] + HIGH * (high[1] - low[1])
    down = np.maximum(-surface.normals[above, 1], 0.0).sum() * surface.area / len(surface.points)
    return plan > 0 and float(down) >= ROOF * plan


def _walled(surface: SurfacePoints, eye: Float) -> bool:
    """Whether surfaces rise above a place in most directions around it."""
    away = surface.points - eye
    high = away[:, 1] > RISE * np.linalg.norm(away, axis=1)
    sectors = np.floor((np.arctan2(away[high, 0], away[high, 2]) / (2 * math.pi) + 0.5) * SECTORS)
    return len(set(sectors.astype(int).tolist())) >= WALLS


GRADIENT = "gradient"  # behind what stands in the studio, by default
UNLIT = ("sky", "studio")  # that a scene without lights stands under, or in, where it is a single object

DEFAULT_REMARKS = {
    "studio": "the scene's own lights leave much of it dark: it has the studio's fill beside them (--environment none "
    "for their light alone)",
    "sky": "the scene's own lights are a sun outside: it has the sky beside it (--environment none for the sun alone)",
}
GRADIENT_BEHIND = "nothing is around the scene: a gradient stands behind it (--environment none for darkness)"

DARK = "nothing lights the scene: its surfaces are black (leave out --environment, for the default light)"


class Requested(NamedTuple):
    """The values that an environment was found by: of options, whether there is a ground plane, and the default."""

    environment: Any
    rotation: float
    sun: Any
    grounded: bool
    meant: str | DefaultEnvironment


@dataclass
class Lighting:
    """The environment and the lights of a scene, as data and as modules.

    environment, listed : as data. all_lights : the lights' module for programs that ask all of them, and ``ambient``,
    the environment's suns and ambient light, for these, at a rotation of 0. requested : the environment's options.
    remarks : on the environment, for the user. backdrop : seen by camera rays in place of the environment.
    gradient_behind : it is there unasked, in the open under lights of the scene's own. dark : there is no light at all.
    """

    environment: Environment
    listed: LightList
    all_lights: Module
    ambient: Ambient
    requested: Requested
    remarks: list[str] = field(default_factory=list)
    backdrop: Backdrop | None = None
    gradient_behind: bool = False
    dark: bool = False
    _plain: list[Module] = field(default_factory=lambda: [constant_environment()], repr=False)
    _lit: list[Module] = field(default_factory=list, repr=False)
    _far: list[Module] = field(default_factory=list, repr=False)  # the environment's, whose tables may be large
    _behind: list[Module] = field(default_factory=list, repr=False)  # the backdrop's
    _samplers: dict[str, Module] = field(default_factory=dict, repr=False)
    _trees: dict[int, list[Module]] = field(default_factory=dict, repr=False)  # by levels of the structure

    @property
    def notes(self) -> list[str]:
        """Remarks for the user."""
        derived = [GRADIENT_BEHIND] * self.gradient_behind + [DARK] * self.dark
        return [*self.remarks, *derived, *self.listed.warnings]

    @property
    def own_alone(self) -> bool:
        """Whether the scene has lights, and its environment none."""
        return self.listed.lit and not self.environment.flux

    @property
    def made(self) -> bool:
        """Whether its modules have been asked for; their tables then are there."""
        return bool(self._lit)

    def modules(self, lit: bool, sampler: str, tree: int = 0) -> list[Module]:
        """The modules of environment, lights and samples; the same objects every time, so that they are uploaded once.

        Not ``lit``: a plain background alone. tree : lights are chosen by a light tree, under a structure of that
        number of levels; 0: by power.
        """
        if not lit:
            return self._plain
        if not self._lit:
            if not self._far:
                self._far.append(environment_module(self.environment))
            self._lit = [*self._far, self.listed.module(), path_settings()]
            settings = whitted_settings(), candidate_settings(), occlusion_settings()
            self._lit += [self.all_lights, *settings, *photon_modules(self.listed)]
        if sampler not in self._samplers:
            self._samplers[sampler] = sampler_module(sampler)
        if tree and tree not in self._trees:
            base = next(module for module in self._lit if "light_sample" in module.provides)
            self._trees[tree] = tree_modules(self.listed, tree, base)
        if not tree:
            return [*self._lit, *self._behind, self._samplers[sampler]]
        chosen, emitters = self._trees[tree]
        listed = [chosen if module.name == chosen.name else module for module in self._lit]
        return [*listed, emitters, *self._behind, self._samplers[sampler]]

    def scene_modules(self, trees: Iterable[int] = ()) -> list[Module]:
        """The modules with tables of this scene: neither samplers nor settings, which every run sets. trees : of light
        trees, too, by levels."""
        modules = [module for module in self.modules(True, "independent")[:-1] if not module.name.endswith("settings")]
        for tree in trees if self.listed.sources is not None else ():  # nothing shines: there is no tree
            self.modules(True, "independent", tree)
            modules += self._trees[tree]
        return modules

    @property
    def trees(self) -> list[int]:
        """Levels of the structures for which light trees have been asked for."""
        return sorted(self._trees)

    def share(self, other: Lighting) -> None:
        """Take the modules of another one that no scene has a part in: machines that know them are kept."""
        self._plain, self._samplers = other._plain, other._samplers

    def all_modules(self) -> list[Module]:
        """All modules so far."""
        trees = [module for modules in self._trees.values() for module in modules]
        return [*self._plain, *self._lit, *self._far, *self._behind, *trees, *self._samplers.values()]


def scene_lighting(
    scene: Scene, settings: Settings, before: Lighting | None = None, changes: SceneChanges | None = None
) -> Lighting:
    """The lighting of a scene by the options ``environment``, ``environment_rotation`` and ``sun``, and its backdrop by
    ``background`` and ``ground``; in the studio, without a ground plane, a gradient and a floor of shadows by default;
    in the open under lights of its own a gradient.

    before  : of an earlier scene, from which ``changes`` lead here: equal parts are shared.
    Raises ViewerError for a file that cannot be read, and for more lights than can be told apart.
    """
    lighting = _scene_lighting(scene, settings, before, changes)
    if lighting.dark != (dark := _is_dark(scene, lighting)):
        lighting = replace(lighting, dark=dark)
    floor: Floor | None = None
    in_studio = lighting.environment.name == "studio" and scene.ground is None
    ground = SHADOW if settings.ground is None and in_studio else settings.ground
    meant = lighting.requested.meant
    behind_own = isinstance(meant, DefaultEnvironment) and meant.name == "none" and settings.background is None
    background = GRADIENT if behind_own or (in_studio and settings.background is None) else settings.background
    if ground == SHADOW and scene.ground is None:
        previous = before.backdrop if before is not None and changes is not None and not changes.geometry else None
        floor = previous.floor if previous is not None else None  # it stays where it is while the model moves
        floor = floor or floor_under(scene.motion_bounds())
    backdrop = backdrop_of(background, floor, meant.tone if isinstance(meant, DefaultEnvironment) else 1.0)
    if backdrop == lighting.backdrop and (lighting is before or backdrop is None):
        return lighting if behind_own == lighting.gradient_behind else replace(lighting, gradient_behind=behind_own)
    behind: list[Module] = []
    if backdrop is not None and before is not None and _only_rotated(before, lighting) and backdrop == before.backdrop:
        assert isinstance(lighting.environment, ImageEnvironment)
        behind = rotated_modules(before._behind, lighting.environment)
    elif backdrop is not None:
        behind = backdrop_modules(backdrop, lighting.environment, lighting.listed)
    return replace(lighting, backdrop=backdrop, gradient_behind=behind_own, _behind=behind)


def _is_dark(scene: Scene, lighting: Lighting) -> bool:
    """Whether nothing shines: neither environment nor lights nor surfaces."""
    if lighting.environment.flux or lighting.listed.count:
        return False
    return not any(
        material.unlit or (material.kind == "classic" and material.classic is not None and not material.classic.lit)
        for material in scene.materials
    )


def background_of(scene: Scene, settings: Settings) -> Any:
    """The value of the option ``background`` that a scene will have, at a glance, without any work on emissive meshes
    and on the irradiance of its own lights: a single object of a file lacks a fill beside them more often than not."""
    environment = settings.environment
    if settings.background is not None or settings.sun is not None or environment not in (None, "studio"):
        return settings.background
    in_studio = environment == "studio" or (is_single_object(scene) and (scene.fills or not seems_lit(scene)))
    return GRADIENT if in_studio and scene.ground is None else None


def seems_lit(scene: Scene) -> bool:
    """Whether a scene has lights of its own, at a glance."""
    return bool(scene.lights) or any(
        any(material.emission) and material.emission_texture is None for material in scene.materials
    )


def _scene_lighting(
    scene: Scene, settings: Settings, before: Lighting | None, changes: SceneChanges | None
) -> Lighting:
    """The lighting with the backdrop of before."""
    if before is None or changes is None:
        before = None
        changes = SceneChanges(geometry=True, lights=True)
    listing = changes.geometry or changes.attributes or changes.materials or changes.lights
    listing = listing or _emits(scene, changes.moved) or _emits(scene, _instances_of(scene, changes.posed))
    grounded = _on_plain_ground(scene)
    meant = _default(scene, settings, grounded, before, listing, changes.geometry)
    environment, remarks = _environment(settings, grounded, meant, before)
    requested = Requested(settings.environment, settings.environment_rotation, settings.sun, grounded, meant)
    if before is None:
        parts = ambient(environment)
        all_lights = each_light(scene, in_world(parts, environment))
        return Lighting(environment, scene_lights(scene, environment), all_lights, parts, requested, remarks)
    same = environment is before.environment
    rotated = not same and _rotated(before.environment, environment)
    parts = before.ambient if same or rotated else ambient(environment)
    if not listing and same:
        return before if before.requested == requested else replace(before, requested=requested, remarks=remarks)
    far = before._far if same else [_turn(module, environment) for module in before._far] if rotated else []
    if not listing and rotated:  # the flux is the same, and so is every list
        all_lights = turned(before.all_lights, in_world(parts, environment))
        lit = [all_lights if module is before.all_lights else module for module in before._lit]
        lit[: len(far)] = far if lit else []
        return replace(
            before,
            environment=environment,
            all_lights=all_lights,
            requested=requested,
            remarks=remarks,
            _far=far,
            _lit=lit,
        )
    listed, all_lights = scene_lights(scene, environment), each_light(scene, in_world(parts, environment))
    return replace(
        before,
        environment=environment,
        listed=listed,
        all_lights=all_lights,
        ambient=parts,
        requested=requested,
        remarks=remarks,
        _far=far,
        _lit=[],
        _trees={},
    )


def _on_plain_ground(scene: Scene) -> bool:
    """Whether the scene stands on the grey ground plane, which a studio continues: classic tiles, whether an option or
    the caller has laid them, are a part of the scene."""
    floor = None if scene.ground is None else scene.instances[scene.ground].material
    return floor is not None and scene.materials[floor].kind != "classic"


def _default(
    scene: Scene, settings: Settings, grounded: bool, before: Lighting | None, listing: bool, reshaped: bool
) -> str | DefaultEnvironment:
    """The default environment: of a lit scene none, or one beside its lights; of an unlit scene studio or
    sky; nothing where settings name one.

    That stays while parts of the scene and its lights are moved, and on a plain ground plane.
    """
    if settings.environment is not None or settings.sun is not None:
        return ""
    lit = any(any(light.intensity) for light in scene.lights)
    lit = lit or (before.listed if before is not None and not listing else scene_lights(scene)).lit
    meant = before.requested.meant if before is not None and not reshaped else ""
    if meant and (meant not in UNLIT) is lit:
        return meant
    bare = scene.without_ground() if grounded else scene
    if lit:
        return (default_environment(bare) if scene.fills else None) or "none"
    return UNLIT[is_single_object(bare)]


def _environment(
    settings: Settings, grounded: bool, meant: str | DefaultEnvironment, before: Lighting | None
) -> tuple[Environment, list[str]]:
    """The environment that the settings mean, the one of before where that is the same, and remarks."""
    value, rotation, sun = settings.environment, settings.environment_rotation, settings.sun
    same = (
        before is not None
        and _same(before.requested.environment, value)
        and before.requested[2:] == (sun, grounded, meant)
    )
    if isinstance(meant, DefaultEnvironment) and (before is None or not same):
        remarks = [DEFAULT_REMARKS[meant.name]] if meant.name in DEFAULT_REMARKS else []
        return _of_default(meant, grounded, rotation), remarks
    if before is None or not same:
        return resolve_environment(value, rotation, meant not in UNLIT, sun, meant == UNLIT[True], grounded)
    old = before.environment
    if rotation != before.requested.rotation and isinstance(old, ImageEnvironment):
        image_rotation = value.rotation if isinstance(value, ImageEnvironment) else 0.0
        old = old.rotated(image_rotation + rotation)
    return old, before.remarks


def _of_default(meant: DefaultEnvironment, grounded: bool, rotation: float) -> Environment:
    if meant.name == "none":
        return DARKNESS
    if meant.name == "studio":
        return studio(cove=grounded, level=meant.level).rotated(rotation)
    return sky(sun=meant.sun or SUN, disc=False, level=meant.level).rotated(rotation)


def _same(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def _rotated(before: Environment, after: Environment) -> bool:
    """Whether it is the same picture at another rotation."""
    both = isinstance(before, ImageEnvironment) and isinstance(after, ImageEnvironment)
    return both and before.pixels is after.pixels  # type: ignore[union-attr]


def _only_rotated(before: Lighting, after: Lighting) -> bool:
    return after.listed is before.listed and _rotated(before.environment, after.environment)


def _turn(module: Module, environment: Environment) -> Module:
    """The environment's module at another rotation: its tables are shared."""
    values = environment_uniforms(environment)
    uniforms = {name: (kind, values.get(name, value)) for name, (kind, value) in module.uniforms.items()}
    return replace(module, uniforms=uniforms)


def _instances_of(scene: Scene, meshes: Sequence[int]) -> list[int]:
    """The indices of the instances of these meshes."""
    return [index for index, instance in enumerate(scene.instances) if instance.mesh in meshes] if meshes else []


def _emits(scene: Scene, indices: Sequence[int] | Any) -> bool:
    """Whether some of these instances have an emissive surface."""
    emitting = {index for index, material in enumerate(scene.materials) if any(material.emission)}
    if not emitting or not len(indices):
        return False
    drawn = {(scene.instances[index].mesh, scene.instances[index].material) for index in map(int, indices)}
    return any(
        not emitting.isdisjoint([material] if material is not None else set(scene.meshes[mesh].materials.tolist()))
        for mesh, material in drawn
    )
