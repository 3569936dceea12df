"""The papers' pictures of scenes: figures 3.3, 5.2, 5.7 to 5.10 of D."""

from __future__ import annotations

from collections.abc import Iterator

from .. import measured, shown, views
from ..context import Context
from ..model import Cell, Check, Figure, Part, Table
from ..published.chapter5 import VIEWS
from ..registry import section

STAND_IN = "Stand-in: {}."
LEVEL = "chapel.bsp"
WORDS = 27  # of a triangle in texture memory


def edge(context: Context, published: int) -> int:
    """Pixels along a side."""
    return published // 4 if context.quick else published


@section("fig_5_2", paper="D 5.2.1, P2 4.1", title="The scenes (figure 5.2)", order=-1)
def scenes(context: Context) -> Iterator[Part]:
    """The five viewpoints, cast as there, and what a ray does in them."""
    size, rows, largest = edge(context, views.SIZE), [], 0.0
    for name in (yield from measured.there(context)):
        view = measured.SOURCES[name]
        scene = view.load(context)
        picture = shown.rendered(context, ("view", name), scene, (size, size), camera=view.look(scene), program="cast")
        yield Figure(
            name,
            png=shown.jpeg(picture),
            note=f"{STAND_IN.format(view.stand_in)} {scene.triangle_count:,} triangles; each lit from the camera.",
            alt=f"the scene {view.scene}",
        )
        kept, published = measured.workload(context, name), VIEWS[name]
        space = measured.space(context, name)
        grid = " x ".join(str(each) for each in space.resolution.tolist())
        # A word a voxel and a list entry; of a triangle nine words of corners, as many of normals and of colours.
        words = len(space.pointers) + len(space.lists) + WORDS * len(space.corners)
        memory = 4e-6 * words
        cells = [Cell(f"{getattr(published, each):g}", f"{kept[each]:.2f}") for each in ("v", "t", "s")]
        triangles = f"{scene.triangle_count:,}"
        rows.append((name, triangles, grid, *cells, Cell(published.passes, kept["passes"]), round(memory)))
        largest = max(largest, memory)
    if rows:
        pixels = "x".join(map(str, measured.size(context)))
        yield Table(
            "Scenes, and what a ray does in them",
            ("view", "triangles", "grid", "voxels v", "tests t", "shaded s", "passes", "MB"),
            rows,
            note=f"A ray on average, {pixels} eye rays; published 1024 x 1024. y is the shortest side here. Shown "
            "beside each other: the published scenes and cameras are not to be had. MB: of textures as in figure 5.1, "
            "voxels, lists, corners, normals and colours.",
            checks=[
                Check(
                    "texture memory of the largest scene, MB (P2 5.1)",
                    "200 to 300",
                    f"{largest:.0f}",
                    None,
                    "by the published counts the forest has 173 MB of voxels and 108 MB of triangles, without lists",
                )
            ],
        )


@section("fig_3_3", paper="D 3.3, P2 fig. 3", title="Pictures of the four ray tracers (figure 3.3)", order=2)
def tracers(context: Context) -> Iterator[Part]:
    """The bunny by each of them."""
    size = edge(context, 384)
    view = measured.SOURCES[measured.BUNNY]
    scene = view.load(context)
    camera = view.look(scene)
    programs = {
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
        picture = shown.rendered(
            context, program, scene, (size, size), spp, camera, **{"program": program, "environment": "sky", **settings}
        )
        yield Figure(title, png=shown.jpeg(picture), alt=f"a bunny on a ground, by {title.lower()}")


@section("fig_5_8", paper="D 5.3, D fig. 5.8", title="The Cornell box with soft shadows (figure 5.8)", order=3)
def cornell(context: Context) -> Iterator[Part]:
    """Several views, first hits by feed-forward."""
    size, spp = edge(context, 320), 4 if context.quick else 64
    scene = context.scene("cornell")
    settings = {"program": "shadow", "first_hits": "raster"}
    seen = [
        shown.rendered(context, each.name, scene, (size, size), spp, each, **settings) for each in scene.cameras[:3]
    ]
    yield Figure(
        "Soft shadows from three views",
        png=shown.jpeg(*seen),
        note=f"First hits by rasterising, shadow rays traced to random points on the light; {spp} samples a pixel.",
        alt="the Cornell box from three sides",
    )


@section("fig_5_9", paper="D 5.3, D fig. 5.9", title="The teapotahedron (figure 5.9)", order=4)
def teapotahedron(context: Context) -> Iterator[Part]:
    """Left with shadows and reflections, right with reflections alone."""
    size, spp = edge(context, 512), 1 if context.quick else 4
    scene = context.scene("teapotahedron")
    seen = [
        shown.rendered(
            context, shadows, scene, (size, size), spp, program="whitted", refractions="off", shadows=shadows
        )
        for shadows in ("on", "off")
    ]
    yield Figure(
        "Shadows and reflections; reflections alone", png=shown.jpeg(*seen), alt="a teapot among solids, twice"
    )


@section("fig_5_10", paper="D 5.3, D fig. 5.10", title="A Quake3 level (figure 5.10)", order=5)
def quake(context: Context) -> Iterator[Part]:
    """Feed-forward shading, and shadows by rays."""
    size = edge(context, 384)
    scene = context.scene(LEVEL)
    baked = scene.with_variant("lightmaps")
    settings = {"program": "shadow", "first_hits": "raster", "accel": "grid"}
    traced = [shown.rendered(context, each.name, scene, (size, size), 1, each, **settings) for each in scene.cameras]
    for camera, ours in zip(scene.cameras, traced, strict=True):
        theirs = shown.rendered(context, (camera.name, "lightmaps"), baked, (size, size), 1, camera, program="whitted")
        yield Figure(
            f"{scene.name}, {camera.name}",
            png=shown.jpeg(ours, theirs),
            note="A level of our own in the format of Quake III: left shadow rays to its lights after rasterised "
            "first hits, right the light that the level has baked in its lightmaps.",
            alt="a vaulted hall with arches and columns",
        )
