"""Indices by channel: as KHR_materials_dispersion has them, read, told, refused, and on the device."""

from __future__ import annotations

import bsdf_twin as twin
import glsl_call
import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.kernels.records import INTERACTION
from raystream.materials.bsdf import bsdfs
from raystream.materials.surface_features import SurfaceFeatures, material_features
from raystream.materials.tables import materials
from raystream.scene.material import KINDS, Material


def glass(ior: float = 1.5, dispersion: float = 0.0, kind: str = "dielectric") -> Material:
    return Material("glass", kind=kind, ior=ior, dispersion=dispersion)


@pytest.mark.parametrize(
    ("ior", "dispersion", "message"),
    [
        (1.5, float("nan"), "material 'glass': dispersion nan (0 to 1000: 20 / Abbe number)"),
        (1.5, -0.1, "material 'glass': dispersion -0.1 (0 to 1000: 20 / Abbe number)"),
        (1.5, float("inf"), "material 'glass': dispersion inf (0 to 1000: 20 / Abbe number)"),
        (0.8, 0.3, "material 'glass': dispersion with an index of refraction of 0.8 (1 or more"),
    ],
)
def test_what_no_glass_has(ior, dispersion, message):
    with pytest.raises(ViewerError) as raised:
        materials([glass(ior, dispersion)])
    assert str(raised.value).startswith(message)
    materials([glass(ior, dispersion, "lambert")])  # is not asked of others


def test_which_materials_part_channels():
    assert material_features([glass(), glass(1.5, 0.1)]).dispersion
    for one in (glass(), glass(1.0, 1.0), glass(1.5, 1.0, "mirror")):
        assert not material_features([one]).dispersion


@pytest.fixture(scope="module")
def functions(device):
    with device.current():
        modules = bsdfs(SurfaceFeatures(frozenset({"dielectric"}), dispersion=True))
        branches = "out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction"
        return {
            "channel": glsl_call.Function(
                device, "Interaction at_channel(Interaction at, int channel)", modules=modules
            ),
            "parts": glsl_call.Function(device, "bool channels_part(Interaction at)", modules=modules),
            "branches": glsl_call.Function(
                device, f"void bsdf_branches(Interaction at, vec3 wo, {branches})", modules=modules
            ),
            "sample": glsl_call.Function(
                device,
                "bool bsdf_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf)",
                modules=modules,
            ),
        }


def surfaces(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Upright ones, met from both sides; and indices (count, 3) by channel."""
    random = np.random.default_rng(5)
    at = np.zeros(count, INTERACTION.dtype)
    at["kind"], at["albedo"] = KINDS["dielectric"], 0.9
    at["normal"] = at["shading"] = (0, 0, 1)
    at["parameter"], at["specular"] = random.uniform(1.2, 2.5, count), random.uniform(0.01, 0.4, count)
    index = at["parameter"].astype(float)[:, None] + at["specular"].astype(float)[:, None] * [-1, 0, 1]
    return at, twin.unit(random.normal(size=(count, 3))), np.maximum(index, 1.0)


def test_channels_are_refracted_and_reflected_by_their_index(functions):
    at, wo, index = surfaces(5_000)
    assert functions["parts"](at)[0].all()
    side = np.where(wo[:, 2] >= 0, 1.0, -1.0)
    together = functions["branches"](at, wo)
    for channel in range(3):
        ratio = np.where(side > 0, index[:, channel], 1 / index[:, channel])
        share, behind = twin.fresnel(np.abs(wo[:, 2]), ratio)
        (own,) = functions["channel"](at, np.full(len(at), channel))
        assert not functions["parts"](own)[0].any()
        _, reflection, refracted, refraction = functions["branches"](own, wo)
        sure = np.abs(1 - (1 - wo[:, 2] ** 2) / ratio**2) > 1e-3  # near the critical angle rounding decides
        for found in (together[1][:, channel], reflection[:, channel]):
            assert np.abs(found - share)[sure].max() < 1e-4
        through = sure & (behind > 0)
        wanted = np.column_stack([-wo[:, :2] / ratio[:, None], -side * behind])
        assert np.abs(refracted - wanted)[through].max() < 1e-4
        weight = 0.9 * (1 - share) / ratio**2
        assert np.abs(refraction - weight[:, None])[through].max() < 2e-4


def test_the_lobe_can_be_decided(functions):
    """By what is added to its number: 1 refracts, unless all is reflected, -1 reflects, 0 leaves it to chance."""
    at, wo, _ = surfaces(2_000)
    at["specular"] = 0.0
    u = np.random.default_rng(6).random((len(at), 3))
    share = functions["branches"](at, wo)[1][:, 0]
    crossed = {}
    for decided in (-1, 0, 1):
        at["reflectivity"] = decided
        _, wi, weight, _ = functions["sample"](at, wo, u)
        crossed[decided] = wi[:, 2] * wo[:, 2] < 0
        assert np.all(weight[~crossed[decided]] == 1.0)
    assert not crossed[-1].any()
    assert np.array_equal(crossed[0], u[:, 2].astype(np.float32) >= share)
    assert np.array_equal(crossed[1], share < 1)
