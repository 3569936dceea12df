"""Rough matte surfaces (Oren and Nayar, Generalization of Lambert's Reflectance Model, SIGGRAPH 1994), whose slopes'
deviation in radians is the material's ``roughness``. An entry point of ``raystream.materials``."""

from __future__ import annotations

from pathlib import Path

from raystream.scene.material import MaterialKind

KIND = MaterialKind(
    str(Path(__file__).with_name("clay.glsl")), lambda material: {"parameter": material.roughness * material.roughness}
)
