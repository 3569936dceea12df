"""The classic material on the device against its float64 twin, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import classic_twin as twin
import glsl_call
import numpy as np
import pytest
from bsdf_twin import dot
from lobe_checks import follows, seen_at

from raystream.base.errors import ViewerError
from raystream.materials.bsdf import bsdfs
from raystream.materials.classic import classic_materials
from raystream.materials.surface_features import material_features
from raystream.materials.textures import textures
from raystream.scene.material import CLASSIC_MODES, KINDS, ClassicMaterial, ClassicTexture, Material

# Products of a few rounded numbers; the power multiplies its base's rounding, which near 0 is large, by up to 6.
ROUNDING = 2e-5
COUNT = 4_000
UNLIT, LIT = twin.random_materials(16, 3), twin.random_materials(16, 3, lit=True)


class Functions:
    """Functions of a scene of these materials."""

    def __init__(self, device, found: list[Material]) -> None:
        surfaces = material_features(found)
        self.device, self.found = device, found
        self.modules = [textures([]), *classic_materials(found, surfaces), *bsdfs(surfaces)]

    def __call__(self, signature: str, *arguments):
        with self.device.current():
            return glsl_call.Function(self.device, signature, modules=self.modules)(*arguments)


@pytest.fixture(scope="module")
def unlit(device) -> Functions:
    return Functions(device, UNLIT)


@pytest.fixture(scope="module")
def lit(device) -> Functions:
    return Functions(device, LIT)


BRANCHES = "out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction"


def test_weights_and_directions(unlit):
    """(6.3) to (6.5), (6.8), (6.30) to (6.32)."""
    at, wo = twin.surfaces(UNLIT, COUNT, 1)
    wanted = twin.seen(UNLIT, at, wo)
    reflected, reflection, refracted, refraction = unlit(
        f"void bsdf_branches(Interaction at, vec3 wo, {BRANCHES})", at, wo
    )
    sure = wanted.sure
    assert sure.mean() > 0.95 and (wanted.refraction[sure] == 0).any() and (wanted.refraction[sure] > 0).any()
    np.testing.assert_allclose(reflected, wanted.reflected, atol=ROUNDING)
    np.testing.assert_allclose(reflection[sure], wanted.reflection[sure], atol=ROUNDING)
    np.testing.assert_allclose(refraction[sure], wanted.refraction[sure], atol=ROUNDING)
    sheet = np.array([each.classic.is_sheet for each in UNLIT if each.classic])[at["kind"] >> 3]
    np.testing.assert_array_equal(refracted[sheet], -wo[sheet].astype(np.float32))
    through = sure & ~sheet & (wanted.refraction > 0).all(axis=1)
    np.testing.assert_allclose(refracted[through], wanted.refracted[through], atol=1e-4)  # roots near 0


def test_the_colour_of_its_own(unlit):
    at, wo = twin.surfaces(UNLIT, COUNT, 2)
    wanted = twin.seen(UNLIT, at, wo)
    (shines,) = unlit("vec3 classic_emission(Interaction at)", at)
    np.testing.assert_allclose(shines[wanted.sure], wanted.diffuse[wanted.sure], atol=ROUNDING)
    assert unlit("bool bsdf_delta(Interaction at)", at)[0].all()


def test_its_colour_under_light(lit):
    at, wo = twin.surfaces(LIT, COUNT, 4)
    wi = twin.unit(np.random.default_rng(5).normal(size=(COUNT, 3))).astype(np.float32).astype(float)
    wanted, n = twin.seen(LIT, at, wo), at["shading"].astype(float)
    there = dot(n, wo) * dot(n, wi) > 0
    value = wanted.diffuse / np.pi * (np.abs(dot(n, wi)) * there)[:, None]
    (found,) = lit("vec3 bsdf_value(Interaction at, vec3 wo, vec3 wi)", at, wo, wi)
    np.testing.assert_allclose(found[wanted.sure], value[wanted.sure], atol=ROUNDING)
    assert not lit("bool bsdf_delta(Interaction at)", at)[0].any()
    assert not lit("vec3 classic_emission(Interaction at)", at)[0].any()


def test_a_channel_has_its_index(unlit):
    at, wo = twin.surfaces(UNLIT, COUNT, 6)
    parts = np.array([each.parts_channels for each in UNLIT])[at["kind"] >> 3]
    np.testing.assert_array_equal(unlit("bool channels_part(Interaction at)", at)[0], parts)
    for channel in (0, 2):
        (own,) = unlit("Interaction at_channel(Interaction at, int channel)", at, np.full(COUNT, channel))
        assert not unlit("bool channels_part(Interaction at)", own)[0].any()
        wanted = twin.seen(UNLIT, at, wo, channel)
        _, reflection, refracted, _ = unlit(f"void bsdf_branches(Interaction at, vec3 wo, {BRANCHES})", own, wo)
        sheet = np.array([each.classic.is_sheet for each in UNLIT if each.classic])[at["kind"] >> 3]
        through = wanted.sure & ~sheet & (wanted.refraction[:, channel] > 0)
        np.testing.assert_allclose(refracted[through], wanted.refracted[through], atol=1e-4)
        np.testing.assert_allclose(
            reflection[wanted.sure, channel], wanted.reflection[wanted.sure, channel], atol=ROUNDING
        )


@pytest.mark.parametrize("model", ["path", "slab"])
def test_sheets_shift_rays(unlit, model: str):
    """Sideways by T sin(a1 - a2), and of a slab by that over cos a2 (figure 6-11)."""
    at, wo = twin.surfaces(UNLIT, COUNT, 7)
    own = [each.classic for each in UNLIT if each.classic]
    mine = np.array([each.is_sheet and each.thickness_model == model for each in own])[at["kind"] >> 3]
    (shift,) = unlit("vec3 bsdf_shift(Interaction at, vec3 wi)", at, -wo)
    side = np.linalg.norm(shift - dot(shift, wo)[:, None] * wo, axis=1)
    index, thickness = (
        np.array([value(each) for each in own])[at["kind"] >> 3]
        for value in (lambda each: each.indices[1], lambda each: each.thickness)
    )
    before = np.arccos(np.minimum(np.abs(dot(at["shading"].astype(float), wo)), 1))
    behind = np.arcsin(np.sin(before) / index)
    wanted = thickness * np.sin(before - behind) / (np.cos(behind) if model == "slab" else 1)
    np.testing.assert_allclose(side[mine], wanted[mine], atol=1e-5)  # float32's of lengths up to 2
    assert mine.sum() > 500
    none = np.array([not each.is_sheet for each in own])[at["kind"] >> 3]
    assert not shift[none].any()
    assert not unlit("vec3 bsdf_shift(Interaction at, vec3 wi)", at, wo)[0].any()  # nothing of what is reflected


@pytest.mark.parametrize("decided", [0, 1, -1])
def test_samples_bring_what_goes_each_way(lit, decided: int):
    """Sums over evenly spaced numbers of the lobe; where a program has decided, of what it left."""
    count = 512
    at, wo = twin.surfaces(LIT, 24, 8)
    wanted = twin.seen(LIT, at, wo)
    at["reflectivity"] = decided
    many, ways, u = np.repeat(at, count), np.repeat(wo, count, axis=0), np.zeros((24 * count, 3))
    u[:, :2], u[:, 2] = 0.3, np.tile((np.arange(count) + 0.5) / count, 24)
    goes, wi, weight, pdf = lit(
        "bool bsdf_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf)", many, ways, u
    )
    mirrors = np.abs(wi - np.repeat(wanted.reflected, count, axis=0)).max(axis=1) < 1e-5
    lobe = goes & (pdf > 0)
    rest = 1 - wanted.reflection if decided == 1 else 1.0
    ways_wanted = {
        "mirror": (goes & mirrors & ~lobe, {0: wanted.reflection, 1: 0, -1: 1}[decided]),
        "through": (goes & ~mirrors & ~lobe, 0 if decided == -1 else wanted.refraction / rest),
        "diffuse": (lobe, 0 if decided == -1 else wanted.diffuse / rest),
    }
    for name, (chosen, total) in ways_wanted.items():
        found = np.where(chosen[:, None], weight, 0).reshape(24, count, 3).mean(axis=1)
        error = np.abs(found - total)[wanted.sure].max()
        # One number of each 512 too many or too few, of weights up to those of the rarest way.
        assert error < 2 * np.abs(weight).max() / count, name


def test_the_lit_lobe_falls_where_its_density_says(lit):
    """Chi-square; what is mirrored or passes has no density and is left out."""
    count, number = 20_000, 3
    at, _ = twin.surfaces(LIT[number : number + 1], count, 10)
    at["kind"] = KINDS["classic"] + 8 * number
    at["normal"] = at["shading"] = (0.0, 0.0, 1.0)
    wo = np.tile(seen_at(0.6), (count, 1))
    at["wo"] = wo
    u = np.random.default_rng(11).random((count, 3))
    sample = "bool bsdf_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf)"
    goes, wi, _, pdf = lit(sample, at, wo, u)

    def density(ways):
        many = len(ways)
        asked = lit(
            "float bsdf_pdf(Interaction at, vec3 wo, vec3 wi)", np.repeat(at[:1], many), wo[:1].repeat(many, 0), ways
        )
        return asked[0].astype(float)

    assert 0.1 < (goes & (pdf > 0)).mean() < 0.9
    follows(np.where((goes & (pdf > 0))[:, None], wi, 0), density)


@pytest.mark.parametrize("is_lit", [False, True])
def test_white_furnace(device, is_lit: bool):
    """White in white surroundings, of white filters, is white: at every angle, for all shares and indices."""
    white = (1.0, 1.0, 1.0)
    found = [
        replace(each, base_color=(*white, 1.0), classic=replace(each.classic, specular=white, ambient=white))
        for each in (LIT if is_lit else UNLIT)
    ]
    functions = Functions(device, found)
    at, wo = twin.surfaces(found, COUNT, 12)
    _, reflection, _, refraction = functions(f"void bsdf_branches(Interaction at, vec3 wo, {BRANCHES})", at, wo)
    (shines,) = functions("vec3 classic_emission(Interaction at)", at)
    (scatters,) = functions("vec3 bsdf_reflectance(Interaction at)", at)
    assert shines.any() != is_lit and scatters.any() == is_lit
    np.testing.assert_allclose(reflection + refraction + shines + scatters, 1.0, atol=ROUNDING)


def test_modes_of_textures(unlit):
    random = np.random.default_rng(9)
    color, texel, environment = random.random((300, 3)), random.random((300, 4)), random.random((300, 3))
    for mode, number in CLASSIC_MODES.items():
        (found,) = unlit(
            "vec3 classic_textured(vec3 color, vec4 texel, int mode, vec3 environment)",
            *(color, texel, np.full(300, number), environment),
        )
        np.testing.assert_allclose(found, twin.textured(color, texel, mode, environment), atol=1e-6)  # some ULP


def test_textures_that_are_none():
    one = Material("tile", kind="classic", classic=ClassicMaterial(textures=(ClassicTexture(3),)))
    with pytest.raises(ViewerError, match=r"material 'tile': names texture 3 of 2"):
        classic_materials([one], material_features([one]), 2)


def test_a_light_is_refused():
    lamp = Material("lamp", kind="classic", emission=(0.0, 1.0, 0.0))
    with pytest.raises(ViewerError, match=r"material 'lamp': is classic and has an emission \(leave it out"):
        classic_materials([lamp], material_features([lamp]))
