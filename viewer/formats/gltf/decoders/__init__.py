"""Decoders of compressed meshes and images, each through its library, one of ``raystream[gltf]``."""

from __future__ import annotations

import platform
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from raystream.base.errors import ViewerError

# Module names; the packages of DracoPy and meshopt bear the same ones.
DRACO, MESHOPT, BASISU = "DracoPy", "meshopt", "opengl_basisu"

# Extension -> its decoder.
DECODERS = {
    "EXT_meshopt_compression": MESHOPT,
    "KHR_draco_mesh_compression": DRACO,
    "KHR_meshopt_compression": MESHOPT,
    "KHR_texture_basisu": BASISU,
}

_INSTALL = 'install it: pip install "raystream[gltf]"'
_NO_WHEEL = "there is none for Linux on ARM; convert the images to PNG"


class MissingExtra(ViewerError):
    """A file needs a decoder that is not installed."""


def installed(module: str) -> bool:
    """Whether a decoder can be imported."""
    return find_spec(module) is not None


def decoder(module: str, where: str) -> ModuleType:
    """The decoder's module. Raises MissingExtra with the installation command."""
    try:
        return import_module(module)
    except ImportError:
        hint = _NO_WHEEL if module == BASISU and platform.machine() == "aarch64" else _INSTALL
        raise MissingExtra(where, f"needs the decoder {module}, which is not installed", hint) from None
