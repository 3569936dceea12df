"""Programs by name: wiring only, no OpenGL. Every module of this folder is imported with it, so that a program becomes
known by being here and registering (`raystream.programs.registry`), or by an entry point of ``raystream.programs``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from raystream.base import distributions
from raystream.programs.first_hits import backdrop_weight, eye_hits
from raystream.programs.light_layers import light_layers, visibility
from raystream.programs.photon_map import photon_emission, photon_frame
from raystream.programs.ray_cast import feature_buffers, ray_cast, trace
from raystream.programs.registry import PICTURES, PictureProgram, programs_with, register
from raystream.programs.traversal import IN_BOX, LEVELS, TraversalStates, traversal_states

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
distributions.load_plugins("programs", lambda _, program: register(program))

__all__ = [
    "IN_BOX",
    "LEVELS",
    "PICTURES",
    "PictureProgram",
    "TraversalStates",
    "backdrop_weight",
    "eye_hits",
    "feature_buffers",
    "light_layers",
    "photon_emission",
    "photon_frame",
    "programs_with",
    "ray_cast",
    "register",
    "trace",
    "traversal_states",
    "visibility",
]
