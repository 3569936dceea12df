"""The papers' pictures of scenes: figures 3.3, 5.2, 5.7 to 5.10 of D."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raystream.scene.camera import Camera
from raystream.scene.scene import Scene

from .. import measured, report, views
from ..context import Context
from ..published.chapter5 import VIEWS
from ..report import CLAIM, FITTED, Check, Figure, Parts, beside, between, captioned, exact, near, section, tabled
from ..shown import Shot, sheet

LEVEL = "chapel.bsp"
WORDS = 27  # of a triangle in texture memory
CAST = {"program": "cast"}
TEXTURES = 200, 300  # MB (P2 5.1)
FOREST = 173 + 108  # MB of 43.2 M voxels and 1.0 M triangles
SMALL = 100  # MB: the bunny, of which the text does not speak


def edge(context: Context, published: int) -> int:
    """Pixels along a side."""
    return published // 4 if context.quick else published


@section("fig_5_2", paper="D 5.2.1, P2 4.1", title="The scenes (figure 5.2; P2 6)", order=-1)
def scenes(context: Context) -> Parts:
    """The five viewpoints, cast as there, and what a ray does in them."""
    size, rows, largest = edge(context, views.SIZE), [], 0.0
    for name in (yield from measured.there(context)):
        view = measured.SOURCES[name]
        found = context.keep(("scene", name), lambda name=name: _scene(context, name))
        found["resolution"] = [int(each) for each in found["grid"].split(" x ")]
        shot = Shot(lambda view=view: _look(context, view), (size, size), 1, CAST)
        texts = {"view": name, "stand_in": view.stand_in, "triangles": found["triangles"], "scene": view.scene}
        yield captioned("viewpoint", png=sheet(context, ("view", name), shot), **texts)
        kept, published = measured.workload(context, name), VIEWS[name]
        cells = [beside(f"{getattr(published, each):g}", f"{kept[each]:.2f}", FITTED) for each in ("v", "t", "s")]
        passes = beside(published.passes, kept["passes"], report.LONGEST)
        triangles = near(published.triangles, found["triangles"], report.ROUND_NUMBER, "it is printed to two digits")
        grid = exact(_edges(published.grid), _edges(found["resolution"]))
        rows.append((name, triangles, grid, *cells, passes, round(found["megabytes"])))
        largest = max(largest, found["megabytes"])
    pixels, (least, most) = " x ".join(map(str, measured.size(context))), TEXTURES
    within = between(least, most, largest)
    why = "27 words a triangle, a word a voxel and a list entry"
    if not within:
        why = f"by the published counts the forest has {FOREST} MB of voxels and triangles, without the lists of "
        why += "voxels, whose length is not published: ours are as in figure 5.1"
    what = "texture memory of the largest scene, MB (P2 5.1)"
    check = Check(CLAIM, what, f"{least} to {most}", f"{largest:.0f}", within, why)
    yield tabled("scenes_and_what_a_ray", rows, [check], pixels=pixels)
    yield report.concluded(
        "textures_mb",
        [between(least, most, row[-1]) for row in rows if row[-1] > SMALL],
        ", ".join(dict.fromkeys(f"{row[-1]} MB" for row in rows if row[-1] > SMALL)),
    )


def _look(context: Context, view: views.View) -> tuple[Scene, Camera]:
    scene = view.load(context)
    return scene, view.look(scene)


def _edges(resolution: Sequence[int]) -> str:
    """Voxels along the edges, fewest first."""
    return " x ".join(str(each) for each in sorted(resolution))


def _scene(context: Context, name: str) -> dict[str, Any]:
    """Triangles, grid, and megabytes of textures: a word a voxel and a list entry; of a triangle nine words of corners,
    as many of normals and of colours."""
    space = measured.space(context, name)
    words = len(space.pointers) + len(space.lists) + WORDS * len(space.corners)
    grid = " x ".join(str(each) for each in space.resolution.tolist())
    return {"triangles": len(space.corners), "grid": grid, "megabytes": 4e-6 * words}


@section("fig_3_3", paper="D 3.3.4, P2 3.1.4", title="Pictures of the four ray tracers (figure 3.3)", order=2)
def tracers(context: Context) -> Parts:
    """The bunny by each of them."""
    size, view = edge(context, 384), measured.SOURCES[measured.BUNNY]
    programs: dict[str, tuple[str, int, dict[str, Any]]] = {
        "shadow": ("Shadow caster", 1, {"first_hits": "raster"}),
        "cast": ("Ray caster", 1, {}),
        "whitted": ("Whitted ray tracer", 4, {"classic": True}),
        # Scattered rays alone find light: no sun, which they would hardly ever meet.
        "path": (
            "Path tracer",
            4 if context.quick else 64,
            {"strategy": "bsdf", "eye_rays": "shared", "environment": "0.9,0.95,1"},
        ),
    }
    for program, (title, spp, settings) in programs.items():
        chosen = {"program": program, "environment": "sky", **settings}
        picture = sheet(context, program, Shot(lambda: _look(context, view), (size, size), spp, chosen))
        yield Figure(title, png=picture, alt=f"a bunny on a ground, by {title.lower()}")


@section("fig_5_8", paper="D 5.3", title="The Cornell box with soft shadows (figure 5.8)", order=3)
def cornell(context: Context) -> Parts:
    """Several views, first hits by feed-forward."""
    size, spp = edge(context, 320), 4 if context.quick else 64
    scene = context.scene("cornell")
    settings = {"program": "shadow", "first_hits": "raster"}
    shots = [Shot(lambda each=each: (scene, each), (size, size), spp, settings) for each in scene.cameras[:3]]
    yield captioned("soft_shadows", png=sheet(context, "cornell", *shots), spp=spp)


@section("fig_5_9", paper="D 5.3", title="The teapotahedron (figure 5.9)", order=4)
def teapotahedron(context: Context) -> Parts:
    """Left with shadows and reflections, right with reflections alone."""
    size, spp = edge(context, 512), 1 if context.quick else 4
    settings = {"program": "whitted", "refractions": "off"}
    shots = [
        Shot(lambda: (context.scene("teapotahedron"), None), (size, size), spp, {**settings, "shadows": shadows})
        for shadows in ("on", "off")
    ]
    yield captioned("teapotahedron", png=sheet(context, "teapotahedron", *shots))


@section("fig_5_10", paper="D 5.3", title="A Quake3 level (figure 5.10)", order=5)
def quake(context: Context) -> Parts:
    """Feed-forward shading, and shadows by rays."""
    size = edge(context, 384)
    scene = context.scene(LEVEL)
    baked = scene.with_variant("lightmaps")
    settings = {"program": "shadow", "first_hits": "raster", "accel": "grid"}
    for camera in scene.cameras:
        ours = Shot(lambda camera=camera: (scene, camera), (size, size), 1, settings)
        theirs = Shot(lambda camera=camera: (baked, camera), (size, size), 1, {"program": "whitted"})
        picture = sheet(context, camera.name, ours, theirs)
        yield captioned("level", png=picture, scene=scene.name, camera=camera.name)
