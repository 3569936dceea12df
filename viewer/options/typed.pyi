"""The types of options. Made from their declarations: ``python tools/pages.py``."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from raystream.options.values import PhotonFilter, PolicyChoice, Unroll

class SettingValues:
    @property
    def program(self) -> str: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def shadows(self) -> bool: ...
    @property
    def reflections(self) -> bool: ...
    @property
    def refractions(self) -> bool: ...
    @property
    def min_intensity(self) -> float: ...
    @property
    def light_samples(self) -> int: ...
    @property
    def first_hits(self) -> Literal["auto", "rays", "raster"]: ...
    @property
    def eye_rays(self) -> Literal["each", "shared"]: ...
    @property
    def offsets(self) -> Literal["auto", "pixel", "sample"]: ...
    @property
    def strategy(self) -> Literal["both", "lights", "bsdf"]: ...
    @property
    def light_sampler(self) -> Literal["auto", "power", "tree"]: ...
    @property
    def light_candidates(self) -> int | Literal['auto']: ...
    @property
    def roulette(self) -> int | Literal['auto'] | None: ...
    @property
    def clamp(self) -> float: ...
    @property
    def sampler(self) -> Literal["sobol", "zorder", "independent", "table"]: ...
    @property
    def seed(self) -> int: ...
    @property
    def photons(self) -> int: ...
    @property
    def caustic_photons(self) -> int: ...
    @property
    def photon_bounces(self) -> int: ...
    @property
    def estimate(self) -> Literal["progressive", "nearest", "published"]: ...
    @property
    def nearest(self) -> int: ...
    @property
    def photon_radius(self) -> float: ...
    @property
    def photon_map(self) -> Literal["sort", "stencil"]: ...
    @property
    def photon_grid(self) -> tuple[int, int, int] | None: ...
    @property
    def footprint(self) -> int: ...
    @property
    def redistribution(self) -> Literal["count", "power", "none"]: ...
    @property
    def photon_points(self) -> Literal["fetch", "read-back"]: ...
    @property
    def final_gather(self) -> int: ...
    @property
    def photon_filter(self) -> PhotonFilter: ...
    @property
    def machine(self) -> Literal["multipass", "singlepass"]: ...
    @property
    def policy(self) -> PolicyChoice: ...
    @property
    def unroll(self) -> Unroll: ...
    @property
    def fuse(self) -> Literal["auto", "none", "ray", "surface"]: ...
    @property
    def mask(self) -> Literal["auto", "depth", "stencil", "kill", "tiles", "none"]: ...
    @property
    def tile(self) -> int | Literal['auto']: ...
    @property
    def count(self) -> Literal["auto", "query", "census"]: ...
    @property
    def accel(self) -> Literal["auto", "grid", "bvh", "octree", "two-level-grid", "two-level-bvh", "none"]: ...
    @property
    def top(self) -> Literal["auto", "bvh", "grid"]: ...
    @property
    def build(self) -> Literal["sah", "midpoint"]: ...
    @property
    def grid(self) -> int | Literal['auto']: ...
    @property
    def rebuild(self) -> Literal["auto", "refit", "build", "device-grid"]: ...
    @property
    def intersection(self) -> Literal["watertight", "moller-trumbore", "planes"]: ...
    @property
    def plane_slack(self) -> float: ...
    @property
    def back_faces(self) -> Literal["culled", "shown"]: ...
    @property
    def traversal(self) -> Literal["auto", "stack", "octants", "escape", "dda", "adinetz"]: ...
    @property
    def point_size(self) -> float | None: ...
    @property
    def classic(self) -> bool: ...
    @property
    def max_texture(self) -> int | None: ...
    @property
    def ground(self) -> tuple[float, float] | str | None: ...
    @property
    def camera(self) -> Any: ...
    @property
    def fov(self) -> float | None: ...
    @property
    def aperture(self) -> float | None: ...
    @property
    def focus(self) -> float | None: ...
    @property
    def projection(self) -> Literal["perspective", "orthographic", "equirectangular", "fisheye", "equisolid", "opencv-fisheye"] | None: ...
    @property
    def ortho(self) -> float | Literal['auto'] | None: ...
    @property
    def fisheye(self) -> float | None: ...
    @property
    def intrinsics(self) -> tuple[tuple[float, ...], tuple[int, int] | None] | None: ...
    @property
    def distortion(self) -> tuple[float, ...] | None: ...
    @property
    def stereo(self) -> float | None: ...
    @property
    def pixel_filter(self) -> Literal["box", "tent", "gaussian", "point"]: ...
    @property
    def environment(self) -> Any: ...
    @property
    def sun(self) -> tuple[float, float] | None: ...
    @property
    def environment_rotation(self) -> float: ...
    @property
    def background(self) -> str | tuple[float, float, float] | None: ...
    @property
    def light(self) -> tuple[tuple[str, tuple[float, float, float]], ...]: ...
    @property
    def adaptive(self) -> bool: ...
    @property
    def denoise(self) -> str: ...
    @property
    def device(self) -> int | None: ...
    @property
    def barrier(self) -> Literal["auto", "off"]: ...
    @property
    def memory(self) -> Literal["auto", "buffer", "texture"]: ...
    @property
    def limits(self) -> Literal["none", "2002", "2004"]: ...

class CommonKeywords(TypedDict, total=False):
    program: str
    depth: int | None
    shadows: bool | Literal['on', 'off'] | str
    reflections: bool | Literal['on', 'off'] | str
    refractions: bool | Literal['on', 'off'] | str
    min_intensity: float
    light_samples: int
    first_hits: Literal["auto", "rays", "raster"] | str
    eye_rays: Literal["each", "shared"] | str
    offsets: Literal["auto", "pixel", "sample"] | str
    strategy: Literal["both", "lights", "bsdf"] | str
    light_sampler: Literal["auto", "power", "tree"] | str
    light_candidates: int | Literal['auto'] | str
    roulette: int | Literal['auto', 'never'] | str | None
    clamp: float
    sampler: Literal["sobol", "zorder", "independent", "table"] | str
    seed: int
    photons: int
    caustic_photons: int
    photon_bounces: int
    estimate: Literal["progressive", "nearest", "published"] | str
    nearest: int
    photon_radius: float
    photon_map: Literal["sort", "stencil"] | str
    photon_grid: Sequence[Any] | str | None
    footprint: int
    redistribution: Literal["count", "power", "none"] | str
    photon_points: Literal["fetch", "read-back"] | str
    final_gather: int
    photon_filter: PhotonFilter | str
    machine: Literal["multipass", "singlepass"] | str
    policy: PolicyChoice | str
    unroll: Unroll | int | str | Sequence[int]
    fuse: Literal["auto", "none", "ray", "surface"] | str
    mask: Literal["auto", "depth", "stencil", "kill", "tiles", "none"] | str
    tile: int | Literal['auto'] | str
    count: Literal["auto", "query", "census"] | str
    accel: Literal["auto", "grid", "bvh", "octree", "two-level-grid", "two-level-bvh", "none"] | str
    top: Literal["auto", "bvh", "grid"] | str
    build: Literal["sah", "midpoint"] | str
    grid: int | Literal['auto'] | str
    rebuild: Literal["auto", "refit", "build", "device-grid"] | str
    intersection: Literal["watertight", "moller-trumbore", "planes"] | str
    plane_slack: float
    back_faces: Literal["culled", "shown"] | str
    traversal: Literal["auto", "stack", "octants", "escape", "dda", "adinetz"] | str
    point_size: float | None
    classic: bool
    max_texture: int | None
    ground: str | bool | Sequence[float] | None
    camera: Any
    fov: float | None
    aperture: float | None
    focus: float | None
    projection: Literal["perspective", "orthographic", "equirectangular", "fisheye", "equisolid", "opencv-fisheye"] | str | None
    ortho: float | Literal['auto'] | str | None
    fisheye: float | None
    intrinsics: Sequence[Any] | str | None
    distortion: Sequence[Any] | str | None
    stereo: float | None
    pixel_filter: Literal["box", "tent", "gaussian", "point"] | str
    environment: Any
    sun: Sequence[Any] | str | None
    environment_rotation: float
    background: str | Sequence[Any] | None
    light: str | Mapping[str, Any] | Sequence[Any]
    adaptive: bool | Literal['on', 'off'] | str
    denoise: str | bool
    barrier: Literal["auto", "off"] | str
    memory: Literal["auto", "buffer", "texture"] | str
    limits: Literal["none", "2002", "2004"] | str

class PictureKeywords(TypedDict, total=False):
    size: int | str | Sequence[int]
    spp: int | None
    time: float | None
    error: float | None
    quality: Literal["draft", "good", "best"] | str | None
    resume: str | None
    sample_range: int | None
    layers: str | Sequence[str]

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
