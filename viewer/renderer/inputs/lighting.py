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
from raystream.film.tonemap import MIDDLE_GREY, automatic_exposure
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

# -- the default environment beside a scene's own lights ---------------------------------------------------------------

Float = NDArray[np.float64]

ALBEDO = 0.5  # assumed of all surfaces
BLACK_LUMINANCE = MIDDLE_GREY / 16  # below this, at the picture's exposure, a surface looks black
FAINT_STOPS = 4.0  # lights are faint where a picture's exposure is more stops than this
MAX_BLACK_SHARE = 0.25  # of the surface, as in the shade of a lamp
FILL_RATIO = 0.25  # of the studio's light to that of the scene's own lights, the key
KEY_QUANTILE, SHADE_QUANTILE = 0.75, 0.1  # of the irradiance on surfaces: what counts as in key light, and in shade
MIN_FILL_RATIO = 1 / 8  # of shade to key, from which on a single object needs no fill
MAX_LEVEL = 2.0**40  # factor on an environment, whose radiance has a limit
MAX_LIGHTS = 1 << 10  # delta lights that are summed; of more so many represent all, by power
MAX_EMITTERS = 128  # emissive surfaces that are summed; they represent all, by power
ROOF_HEIGHT = 0.75  # of the scene's height: surfaces above it that face down are a roof
ROOF_SHARE = 0.5  # of the floor plan that a roof covers at least
WALL_SECTORS, MIN_WALL_SECTORS = 12, 9  # of azimuth around a camera, and with walls around one that is indoors
METALNESS_CHANNEL = 2  # blue, of glTF's textures of metalness and roughness
TEXTURE_SAMPLES = 64  # texels along each side of a texture whose mean is taken
MIN_WALL_ELEVATION = math.sin(math.radians(10.0))  # sine of the elevation, from the camera, that walls come to
INDOOR_SHARE = 1 / 6  # of the light outside that comes to the surfaces of a room; 0.18 in the built-in hall
INTERREFLECTION = 2.0  # factor on the light of a room's own lights, for what its surfaces reflect


class DefaultEnvironment(NamedTuple):
    """An environment beside a scene's own lights.

    name : ``studio``; ``sky``, around a ``sun`` (elevation, azimuth) in degrees that is one of these lights; or
    ``none``, of a scene in the open that lacks a backdrop alone. level : factor on its light. tone : factor on the
    gradient behind the scene, so that it is as bright to the lit surfaces as it is in the studio.
    """

    name: str
    level: float
    sun: tuple[float, float] | None = None
    tone: float = 1.0


def default_environment(scene: Scene) -> DefaultEnvironment | None:
    """The environment that a scene with lights of its own needs. Where these are enough: ``none`` with a backdrop's
    tone in the open, and None, darkness, in a room or under a roof.

    The studio: where much of the surface stays black, and for a single object under faint lights or a key without a
    fill; lights within the object, as of a lamp, do not count. The sky: for a room, or a place in the open, that only
    suns light.
    """
    surface = surface_points(scene.meshes, scene.instances)
    if not len(surface.points):
        return None
    emitting, bounds = emitters(scene), scene.bounds()
    eye, lights = np.array(scene.camera().origin), _active_lights(scene)
    single_object = is_single_object(scene)
    sunlit = not len(emitting.corners) and are_all_suns(lights)
    if not single_object and _is_enclosed(surface, eye):
        return default_sky(lights) if sunlit else None
    if not single_object and _is_roofed(surface, bounds):
        return None
    facing = _front_facing(surface, eye)
    if not facing.any():
        return None
    points, normals = surface.points[facing], surface.normals[facing]
    total = outer_irradiance = irradiance(points, normals, lights, emitting)
    if single_object:
        positions = np.array([light.position for light in lights]).reshape(-1, 3)
        within = ((bounds[0] <= positions) & (positions <= bounds[1])).all(axis=1).tolist()
        outer = [light for light, inner in zip(lights, within, strict=True) if light.kind == "directional" or not inner]
        if len(outer) < len(lights) or len(emitting.corners):
            outer_irradiance = irradiance(points, normals, outer, None)
    visible = _mostly_visible(outer_irradiance * _diffuse_shares(scene)[surface.materials[facing]])
    if not visible or (single_object and not _key_and_fill(outer_irradiance)):
        return _default_studio(total)
    if sunlit and not single_object:
        return default_sky(lights)
    return DefaultEnvironment("none", 0.0, tone=min(_key_irradiance(total) / IRRADIANCE, MAX_LEVEL))


def white_radiance(scene: Scene, open_air: float | None = None) -> float:
    """An estimate of the radiance of a white surface in the default view: 1 under the default sky and in the studio.

    open_air : that radiance under the environment, in the open; None: under the scene's own lights, with the default
    environment beside them.
    """
    default = default_environment(scene) if open_air is None and scene.fills else None
    if default is not None:
        return default.level if default.name == "sky" else default.tone
    if open_air is not None and is_single_object(scene):
        return open_air
    surface, eye = surface_points(scene.meshes, scene.instances), np.array(scene.camera().origin)
    if open_air is not None:
        return open_air * (INDOOR_SHARE if _is_enclosed(surface, eye) else 1.0)
    facing = _front_facing(surface, eye)
    light = irradiance(surface.points[facing], surface.normals[facing], _active_lights(scene), emitters(scene))
    return min(INTERREFLECTION * _key_irradiance(light) / IRRADIANCE, MAX_LEVEL) if light.any() else 1.0


def _active_lights(scene: Scene) -> list[Light]:
    """The scene's lights that have any intensity."""
    return [light for light in scene.lights if any(light.intensity)]


def _front_facing(surface: SurfacePoints, eye: Float) -> NDArray[np.bool_]:
    """(N,): whether a point's front faces ``eye`` (3,), hidden or not."""
    return np.asarray(((eye - surface.points) * surface.normals).sum(axis=1) > 0)


def _key_irradiance(light: Float) -> float:
    """The irradiance, among those (N,) of points, that counts as the key light's."""
    return quantile(np.sort(light), KEY_QUANTILE)  # `np.quantile` loads libraries, for which a first picture would wait


def _mostly_visible(irradiances: Float) -> bool:
    """Whether most points with irradiances (N,) do not look black at the exposure of a picture of them."""
    radiance = irradiances * (ALBEDO / math.pi)
    return float((radiance * 2.0 ** automatic_exposure(radiance) < BLACK_LUMINANCE).mean()) <= MAX_BLACK_SHARE


def _key_and_fill(light: Float) -> bool:
    """Whether irradiances (N,) are those of a key light and its fill, as in a studio, and not faint."""
    shade, key = quantile(np.sort(light), SHADE_QUANTILE), _key_irradiance(light)
    return bool(shade >= MIN_FILL_RATIO * key) and not _faint(light)


def _faint(light: Float) -> bool:
    """Whether a picture of points with irradiances (N,) needs more than `FAINT_STOPS` of exposure, or is black."""
    return not light.any() or automatic_exposure(light * (ALBEDO / math.pi)) > FAINT_STOPS


def _default_studio(light: Float) -> DefaultEnvironment:
    """The studio as a fill to the scene's own lights, by their irradiances (N,) at points, 0 at unlit ones; at full
    level where they are faint."""
    if _faint(light):
        return DefaultEnvironment("studio", 1.0)
    level = FILL_RATIO * _key_irradiance(light[light > 0]) / math.pi
    level = min(2.0 ** (round(4 * math.log2(level)) / 4), MAX_LEVEL)
    return DefaultEnvironment("studio", level, tone=level * (1 + math.pi / (FILL_RATIO * IRRADIANCE)))


def _diffuse_shares(scene: Scene) -> Float:
    """(M,): the share of each material that is no metal: metals show their surroundings, and hardly delta lights."""
    diffuse = np.ones(len(scene.materials))
    for index, material in enumerate(scene.materials):
        if material.kind == "principled":
            diffuse[index] = 1.0 - material.metallic * _mean_texel(
                scene, material.metallic_roughness_texture, METALNESS_CHANNEL
            )
    return diffuse


def _mean_texel(scene: Scene, texture: int | None, channel: int) -> float:
    """The mean of a texture's channel, from 0 to 1; 1 without a texture."""
    if texture is None:
        return 1.0
    texels = scene.textures[texture].image.texels
    strides = [max(1, side // TEXTURE_SAMPLES) for side in texels.shape[:2]]
    sampled = texels[:: strides[0], :: strides[1], channel].astype(np.float64)
    return float(sampled.mean()) / {"uint8": 255.0, "uint16": 65535.0}.get(texels.dtype.name, 1.0)


def are_all_suns(lights: Sequence[Light]) -> bool:
    """Whether there are lights and all are directional."""
    return bool(lights) and all(light.kind == "directional" for light in lights)


def default_sky(lights: Sequence[Light]) -> DefaultEnvironment:
    """The sky around the brightest of directional ``lights``, with a level by that one's light beside the sky's own
    sun."""
    sun = max(lights, key=lambda light: float(luminance(light.intensity)))
    x, y, z = (-component for component in sun.direction)
    if y <= 0:  # from below the horizon: no sun
        return DefaultEnvironment("sky", 1.0)
    sky_luminance = float(luminance(sunlight(math.asin(min(y, 1.0))))) * SCALE
    elevation, azimuth = math.degrees(math.asin(min(y, 1.0))), math.degrees(math.atan2(x, z))
    level = min(float(luminance(sun.intensity)) / sky_luminance, MAX_LEVEL)
    return DefaultEnvironment("sky", level, (elevation, azimuth))


def irradiance(points: Float, normals: Float, lights: Sequence[Light], emitting: Emitters | None) -> Float:
    """(N,): luminance of the irradiance at points (N, 3) with unit normals (N, 3), unshadowed, W/m^2."""
    total = np.zeros(len(points))
    for light, weight in _representatives(lights):
        power = float(luminance(light.intensity)) * weight
        if light.kind == "directional":
            total += power * np.maximum(normals @ -np.array(light.direction), 0.0)
            continue
        offsets = np.array(light.position) - points
        square = np.maximum((offsets * offsets).sum(axis=1), 1e-30)
        wi = offsets / np.sqrt(square)[:, None]
        if light.kind == "spot":
            scale, offset = light.falloff
            power = power * np.clip((wi @ -np.array(light.direction)) * scale + offset, 0.0, 1.0) ** 2
        total += power * np.maximum((wi * normals).sum(axis=1), 0.0) / square
    return total if emitting is None else total + _from_emitters(points, normals, emitting)


def _representatives(lights: Sequence[Light]) -> list[tuple[Light, float]]:
    """The lights that are summed, each with its weight. Of more than `MAX_LIGHTS` so many are chosen by luminance, and
    weighted to have equal shares of the total."""
    if len(lights) <= MAX_LIGHTS:
        return [(light, 1.0) for light in lights]
    power = luminance(np.array([light.intensity for light in lights]))
    ends = np.cumsum(power)
    chosen = np.searchsorted(ends, (np.arange(MAX_LIGHTS) + 0.5) / MAX_LIGHTS * ends[-1], side="right")
    return [(lights[k], float(ends[-1] / MAX_LIGHTS / power[k])) for k in np.minimum(chosen, len(lights) - 1).tolist()]


def _from_emitters(points: Float, normals: Float, emitting: Emitters) -> Float:
    """(N,): as `irradiance`, of emissive triangles and spheres, each a point source at its centre."""
    corners = emitting.corners.astype(np.float64)
    if not len(corners):
        return np.zeros(len(points))
    is_sphere = np.zeros(len(corners), bool) if emitting.sphere is None else emitting.sphere
    with np.errstate(all="ignore"):
        area_normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.where(is_sphere, math.pi * corners[:, 1, 0] ** 2, np.linalg.norm(area_normals, axis=1) / 2)
        power = area * luminance(emitting.emission) * (1.0 if emitting.share is None else emitting.share)
    power = np.where(np.isfinite(power), np.maximum(power, 0.0), 0.0)
    ends = np.cumsum(power)
    if not ends[-1] > 0:
        return np.zeros(len(points))
    chosen = np.searchsorted(ends, (np.arange(MAX_EMITTERS) + 0.5) / MAX_EMITTERS * ends[-1], side="right")
    total, sample_power = np.zeros(len(points)), ends[-1] / MAX_EMITTERS
    for k in np.minimum(chosen, len(ends) - 1).tolist():
        center = corners[k, 0] if is_sphere[k] else corners[k].mean(axis=0)
        offsets = center - points
        square = np.maximum((offsets * offsets).sum(axis=1), area[k] / math.pi)  # at most from the whole hemisphere
        wi = offsets / np.sqrt(square)[:, None]
        cos_emitter = np.ones(len(points))
        if not is_sphere[k]:
            cos_emitter = -(wi @ area_normals[k]) / (2 * area[k])
            two_sided = emitting.both is not None and emitting.both[k]
            cos_emitter = np.abs(cos_emitter) if two_sided else np.maximum(cos_emitter, 0.0)
        total += sample_power * cos_emitter * np.maximum((wi * normals).sum(axis=1), 0.0) / square
    return total


def _is_roofed(surface: SurfacePoints, bounds: Float) -> bool:
    """Whether surfaces near the top of the scene that face down cover at least `ROOF_SHARE` of its floor plan."""
    low, high = bounds
    plan = float((high - low)[0] * (high - low)[2])
    is_high = surface.points[:, 1] > low[1] + ROOF_HEIGHT * (high[1] - low[1])
    roof = np.maximum(-surface.normals[is_high, 1], 0.0).sum() * surface.area / len(surface.points)
    return plan > 0 and float(roof) >= ROOF_SHARE * plan


def _is_enclosed(surface: SurfacePoints, eye: Float) -> bool:
    """Whether walls rise around ``eye`` (3,): surfaces above it in at least `MIN_WALL_SECTORS` sectors of azimuth."""
    offsets = surface.points - eye
    walls = offsets[offsets[:, 1] > MIN_WALL_ELEVATION * np.linalg.norm(offsets, axis=1)]
    sectors = np.floor((np.arctan2(walls[:, 0], walls[:, 2]) / (2 * math.pi) + 0.5) * WALL_SECTORS)
    return len(set(sectors.astype(int).tolist())) >= MIN_WALL_SECTORS


GRADIENT = "gradient"  # the default background in the studio
UNLIT = ("sky", "studio")  # default environments of scenes without lights: of places, and of single objects

DEFAULT_REMARKS = {
    "studio": "the scene's own lights leave much of it dark: it has the studio's fill beside them (--environment none "
    "for their light alone)",
    "sky": "the scene's own lights are a sun outside: it has the sky beside it (--environment none for the sun alone)",
}
GRADIENT_BEHIND = "nothing is around the scene: a gradient stands behind it (--environment none for darkness)"

DARK = "nothing lights the scene: its surfaces are black (leave out --environment, for the default light)"


class Requested(NamedTuple):
    """The inputs of an environment: options, whether the scene is on a plain ground plane, and the default."""

    environment: Any
    rotation: float
    sun: Any
    grounded: bool
    default: str | DefaultEnvironment


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
    _unlit_modules: list[Module] = field(default_factory=lambda: [constant_environment()], repr=False)
    _lit_modules: list[Module] = field(default_factory=list, repr=False)
    _environment_modules: list[Module] = field(default_factory=list, repr=False)  # tables may be large
    _backdrop_modules: list[Module] = field(default_factory=list, repr=False)  # the backdrop's
    _sampler_modules: dict[str, Module] = field(default_factory=dict, repr=False)
    _tree_modules: dict[int, list[Module]] = field(default_factory=dict, repr=False)  # by levels of the structure

    @property
    def notes(self) -> list[str]:
        """Remarks for the user on the lighting."""
        derived = [GRADIENT_BEHIND] * self.gradient_behind + [DARK] * self.dark
        return [*self.remarks, *derived, *self.listed.warnings]

    @property
    def only_own_lights(self) -> bool:
        """Whether the scene has lights and its environment is dark."""
        return self.listed.lit and not self.environment.flux

    @property
    def made(self) -> bool:
        """Whether the lit modules have been made, with their tables."""
        return bool(self._lit_modules)

    def modules(self, lit: bool, sampler: str, tree: int = 0) -> list[Module]:
        """The modules of environment, lights and sampler; the same objects at each call, so that they are uploaded
        once. Not ``lit``: a plain background alone. tree : lights are chosen by a light tree, under a structure of that
        number of levels; 0: by power."""
        if not lit:
            return self._unlit_modules
        if not self._lit_modules:
            if not self._environment_modules:
                self._environment_modules.append(environment_module(self.environment))
            self._lit_modules = [*self._environment_modules, self.listed.module(), path_settings()]
            settings = whitted_settings(), candidate_settings(), occlusion_settings()
            self._lit_modules += [self.all_lights, *settings, *photon_modules(self.listed)]
        if sampler not in self._sampler_modules:
            self._sampler_modules[sampler] = sampler_module(sampler)
        if tree and tree not in self._tree_modules:
            base = next(module for module in self._lit_modules if "light_sample" in module.provides)
            self._tree_modules[tree] = tree_modules(self.listed, tree, base)
        if not tree:
            return [*self._lit_modules, *self._backdrop_modules, self._sampler_modules[sampler]]
        chosen, emitters = self._tree_modules[tree]
        listed = [chosen if module.name == chosen.name else module for module in self._lit_modules]
        return [*listed, emitters, *self._backdrop_modules, self._sampler_modules[sampler]]

    def scene_modules(self, trees: Iterable[int] = ()) -> list[Module]:
        """The modules with tables of this scene: neither samplers nor settings, which every run sets. trees : levels of
        the structures whose light trees are among them."""
        modules = [module for module in self.modules(True, "independent")[:-1] if not module.name.endswith("settings")]
        for tree in trees if self.listed.sources is not None else ():  # nothing shines: there is no tree
            self.modules(True, "independent", tree)
            modules += self._tree_modules[tree]
        return modules

    @property
    def trees(self) -> list[int]:
        """Levels of the structures for which light trees have been asked for."""
        return sorted(self._tree_modules)

    def share(self, other: Lighting) -> None:
        """Use another lighting's modules that do not depend on a scene, so that machines linked with them stay."""
        self._unlit_modules, self._sampler_modules = other._unlit_modules, other._sampler_modules

    def all_modules(self) -> list[Module]:
        """All modules that have been made so far."""
        trees = [module for modules in self._tree_modules.values() for module in modules]
        return [
            *self._unlit_modules,
            *self._lit_modules,
            *self._environment_modules,
            *self._backdrop_modules,
            *trees,
            *self._sampler_modules.values(),
        ]


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
    default = lighting.requested.default
    in_open = isinstance(default, DefaultEnvironment) and default.name == "none"
    gradient_in_open = in_open and settings.background is None
    background = GRADIENT if (in_open or in_studio) and settings.background is None else settings.background
    if ground == SHADOW and scene.ground is None:
        previous = before.backdrop if before is not None and changes is not None and not changes.geometry else None
        floor = previous.floor if previous is not None else None  # it stays where it is while the model moves
        floor = floor or floor_under(scene.motion_bounds())
    backdrop = backdrop_of(background, floor, default.tone if isinstance(default, DefaultEnvironment) else 1.0)
    if backdrop == lighting.backdrop and (lighting is before or backdrop is None):
        return (
            lighting
            if gradient_in_open == lighting.gradient_behind
            else replace(lighting, gradient_behind=gradient_in_open)
        )
    behind: list[Module] = []
    if (
        backdrop is not None
        and before is not None
        and _is_only_rotated(before, lighting)
        and backdrop == before.backdrop
    ):
        assert isinstance(lighting.environment, ImageEnvironment)
        behind = rotated_modules(before._backdrop_modules, lighting.environment)
    elif backdrop is not None:
        behind = backdrop_modules(backdrop, lighting.environment, lighting.listed)
    return replace(lighting, backdrop=backdrop, gradient_behind=gradient_in_open, _backdrop_modules=behind)


def _is_dark(scene: Scene, lighting: Lighting) -> bool:
    """Whether all would be black: no environment, light or emissive surface (``listed``), nor an unlit material, whose
    colour shows without light."""
    if lighting.environment.flux or lighting.listed.count:
        return False
    return not any(
        material.unlit or (material.kind == "classic" and material.classic is not None and not material.classic.lit)
        for material in scene.materials
    )


def background_at_a_glance(scene: Scene, settings: Settings) -> Any:
    """The likely value of the option ``background`` for a scene, without the work of `scene_lighting`: a single object
    of a file is assumed to need the studio beside its own lights."""
    environment = settings.environment
    if settings.background is not None or settings.sun is not None or environment not in (None, "studio"):
        return settings.background
    in_studio = environment == "studio" or (
        is_single_object(scene) and (scene.fills or not has_lights_at_a_glance(scene))
    )
    return GRADIENT if in_studio and scene.ground is None else None


def has_lights_at_a_glance(scene: Scene) -> bool:
    """Whether a scene has lights or emissive materials, textures aside."""
    return bool(scene.lights) or any(
        any(material.emission) and material.emission_texture is None for material in scene.materials
    )


def _scene_lighting(
    scene: Scene, settings: Settings, before: Lighting | None, changes: SceneChanges | None
) -> Lighting:
    """The lighting with the former backdrop; parts of ``before`` that ``changes`` leave as they are stay."""
    if before is None or changes is None:
        before = None
        changes = SceneChanges(geometry=True, lights=True)
    lists_change = changes.geometry or changes.attributes or changes.materials or changes.lights
    lists_change = lists_change or _emits(scene, changes.moved) or _emits(scene, _instances_of(scene, changes.posed))
    grounded = _on_plain_ground(scene)
    default = _default_environment(scene, settings, grounded, before, lists_change, changes.geometry)
    environment, remarks = _environment(settings, grounded, default, before)
    requested = Requested(settings.environment, settings.environment_rotation, settings.sun, grounded, default)
    if before is None:
        parts = ambient(environment)
        all_lights = each_light(scene, in_world(parts, environment))
        return Lighting(environment, scene_lights(scene, environment), all_lights, parts, requested, remarks)
    same = environment is before.environment
    rotated = not same and _is_rotation(before.environment, environment)
    parts = before.ambient if same or rotated else ambient(environment)
    if not lists_change and same:
        return before if before.requested == requested else replace(before, requested=requested, remarks=remarks)
    far = (
        before._environment_modules
        if same
        else [_rotated_module(module, environment) for module in before._environment_modules]
        if rotated
        else []
    )
    if not lists_change and rotated:  # the flux is the same, and so is every list
        all_lights = turned(before.all_lights, in_world(parts, environment))
        lit = [all_lights if module is before.all_lights else module for module in before._lit_modules]
        lit[: len(far)] = far if lit else []
        return replace(
            before,
            environment=environment,
            all_lights=all_lights,
            requested=requested,
            remarks=remarks,
            _environment_modules=far,
            _lit_modules=lit,
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
        _environment_modules=far,
        _lit_modules=[],
        _tree_modules={},
    )


def _on_plain_ground(scene: Scene) -> bool:
    """Whether the scene has the grey ground plane, which a studio continues; classic tiles are a part of the scene."""
    floor = None if scene.ground is None else scene.instances[scene.ground].material
    return floor is not None and scene.materials[floor].kind != "classic"


def _default_environment(
    scene: Scene,
    settings: Settings,
    grounded: bool,
    before: Lighting | None,
    lists_change: bool,
    geometry_changes: bool,
) -> str | DefaultEnvironment:
    """The default environment: ``none`` or one beside the lights of a lit scene, studio or sky of an unlit one; empty
    where the settings name one. It stays while instances and lights are moved, and does not depend on a plain ground
    plane."""
    if settings.environment is not None or settings.sun is not None:
        return ""
    lit = any(any(light.intensity) for light in scene.lights)
    lit = lit or (before.listed if before is not None and not lists_change else scene_lights(scene)).lit
    default = before.requested.default if before is not None and not geometry_changes else ""
    if default and (default not in UNLIT) is lit:
        return default
    bare = scene.without_ground() if grounded else scene
    if lit:
        return (default_environment(bare) if scene.fills else None) or "none"
    return UNLIT[is_single_object(bare)]


def _environment(
    settings: Settings, grounded: bool, default: str | DefaultEnvironment, before: Lighting | None
) -> tuple[Environment, list[str]]:
    """The settings' environment, or ``default``; that of ``before`` where nothing differs. Returns remarks, too."""
    value, rotation, sun = settings.environment, settings.environment_rotation, settings.sun
    same = (
        before is not None
        and _equal(before.requested.environment, value)
        and before.requested[2:] == (sun, grounded, default)
    )
    if isinstance(default, DefaultEnvironment) and (before is None or not same):
        remarks = [DEFAULT_REMARKS[default.name]] if default.name in DEFAULT_REMARKS else []
        return _environment_of_default(default, grounded, rotation), remarks
    if before is None or not same:
        return resolve_environment(value, rotation, default not in UNLIT, sun, default == UNLIT[True], grounded)
    old = before.environment
    if rotation != before.requested.rotation and isinstance(old, ImageEnvironment):
        image_rotation = value.rotation if isinstance(value, ImageEnvironment) else 0.0
        old = old.rotated(image_rotation + rotation)
    return old, before.remarks


def _environment_of_default(default: DefaultEnvironment, grounded: bool, rotation: float) -> Environment:
    """The environment itself. grounded : on a plain ground plane. rotation : about the vertical, degrees."""
    if default.name == "none":
        return DARKNESS
    if default.name == "studio":
        return studio(cove=grounded, level=default.level).rotated(rotation)
    return sky(sun=default.sun or SUN, disc=False, level=default.level).rotated(rotation)


def _equal(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def _is_rotation(before: Environment, after: Environment) -> bool:
    """Whether both are one image at two rotations."""
    both = isinstance(before, ImageEnvironment) and isinstance(after, ImageEnvironment)
    return both and before.pixels is after.pixels  # type: ignore[union-attr]


def _is_only_rotated(before: Lighting, after: Lighting) -> bool:
    return after.listed is before.listed and _is_rotation(before.environment, after.environment)


def _rotated_module(module: Module, environment: Environment) -> Module:
    """The environment's module with another rotation and the same tables."""
    values = environment_uniforms(environment)
    uniforms = {name: (kind, values.get(name, value)) for name, (kind, value) in module.uniforms.items()}
    return replace(module, uniforms=uniforms)


def _instances_of(scene: Scene, meshes: Sequence[int]) -> list[int]:
    """The indices of the instances of meshes (by index)."""
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
