"""The options of the scene: its acceleration structure, camera, environment and lights."""

from __future__ import annotations

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Scope, Value, options_of_part
from raystream.options.values import SWITCH, choice, integer, number, open_number, optional_choice

STRUCTURE = options_of_part(
    "structure",
    Option(
        "accel",
        choice("auto", "grid", "bvh", "octree", "two-level-grid", "two-level-bvh", "none"),
        Help(
            "acceleration structure; two-level: one over each distinct mesh, and one over the instances; auto is bvh,"
            " or two-level-bvh where meshes deform or a scene of many instances would be too large flattened; none"
            " tests every ray against all primitives"
        ),
        Affects.STRUCTURE,
        Scope(offered=("info",)),
    ),
    Option(
        "top",
        choice("auto", "bvh", "grid"),
        Help("top level of a two-level structure, over the instances; auto is of the objects' kind", shown="papers"),
        Affects.STRUCTURE,
    ),
    Option(
        "build",
        choice("sah", "midpoint"),
        Help("builder of a bvh: surface area heuristic, or midpoints along x, y, z in turn", shown="papers"),
        Affects.STRUCTURE,
    ),
    Option(
        "grid",
        integer(1, 1024, "auto"),
        Help("resolution of a grid: voxels along the scene's shortest side; auto weighs the cost"),
        Affects.STRUCTURE,
        Scope(offered=("info",)),
    ),
    Option(
        "rebuild",
        choice("auto", "refit", "build", "device-grid"),
        Help(
            "trees of meshes that deform, under two-level-bvh: refit to each pose; auto builds them anew in the"
            " background, too, once rays are expected to cost a third more; build: anew for each pose; device-grid:"
            " lists of a grid of every frame are built on the device, by fragment programs that expand, sort and"
            " search (--accel grid)",
            shown="papers",
        ),
        Affects.STRUCTURE,
        Scope(offered=("info",)),
    ),
    Option(
        "intersection",
        choice("watertight", "moller-trumbore", "planes"),
        Help("the ray-triangle test", shown="papers"),
        Affects.STRUCTURE,
    ),
    Option(
        "plane_slack",
        number("SUM", 1.0, 1.1, 1.0),
        Help(
            "of the test by planes: the largest sum of two barycentric weights that is a hit; published 1.004",
            "1.0",
            shown="papers",
            slider=(1, 1.1),
        ),
        Affects.STRUCTURE,
    ),
    Option(
        "back_faces",
        choice("culled", "shown"),
        Help(
            "back faces of a glTF file's single-sided materials, glass aside: culled, as glTF wants it, in what the"
            " camera sees directly, in mirrors and through glass, while they cast shadows and scatter light; or shown"
        ),
        Affects.STRUCTURE,
    ),
    Option(
        "traversal",
        choice("auto", "stack", "octants", "escape", "dda", "adinetz"),
        Help(
            "traversal: of a bvh with a stack, by octants or by escape indices; of a grid by a digital differential "
            "analyser, or in texel coordinates; the same hits",
            shown="papers",
        ),
        Affects.STRUCTURE,
    ),
    taker="prepare",
)

SCENE = options_of_part(
    "scene",
    Option(
        "variant",
        Value(values.read_optional_name, None, "NAME|N", "a name, or a number from 0 in the file's order"),
        Help("which of a glTF file's material variants is shown", "the file's own materials", shown="first"),
        Affects.SCENE,
        Scope("call"),
    ),
    Option(
        "lenient",
        SWITCH,
        Help(
            "leaves out damaged parts of glTF, and shows checkerboards in place of a model's images that cannot be read"
        ),
        Affects.SCENE,
        Scope("call", offered=("info",)),
    ),
    Option(
        "point_size",
        open_number("SIZE", 0, 1e9, unit="scene units"),
        Help(
            "diameter of a model's points, which are spheres; lines are half as thick",
            "the mean distance of neighbours",
        ),
        Affects.SCENE,
    ),
    Option(
        "classic",
        SWITCH,
        Help(
            "shows the model in classic glass on a plane of tiles that reflect, three times as wide as the model or as "
            "--ground has it; for program whitted"
        ),
        Affects.SCENE,
    ),
    Option(
        "max_texture",
        integer(1, 16384),
        Help("longest side of textures; larger ones are reduced, by halves", "as they are"),
        Affects.SCENE,
        Scope(offered=("info",)),
    ),
    Option(
        "ground",
        Value(
            values.read_ground,
            None,
            "WxD|shadow|none",
            "two numbers such as 1.53x2.55, each from {low:g} to {high:g}, or shadow, none, auto, or nothing: "
            "a large one",
            0.01,
            10000,
            words=("shadow", "none"),
            bare="auto",
        ),
        Help(
            "puts the model on a ground plane, sized in heights of the model; the published bunny's is 1.53x2.55; or"
            " on a floor that is seen by the model's shadow and a hint of its reflection alone",
            "shadow for what stands in the studio; else none",
            shown="first",
        ),
        Affects.SCENE,
    ),
)

CAMERA = options_of_part(
    "camera",
    Option(
        "camera",
        Value(values.read_camera, None, "CAMERA", "the name of a camera, or 'ox,oy,oz tx,ty,tz [ux,uy,uz]'"),
        Help(
            "a camera of the scene, or origin, target and up",
            "the scene's first where that shows it, else a three-quarter view that it fills",
            shown="first",
        ),
        Affects.UNIFORMS,
    ),
    Option(
        "fov",
        open_number("DEGREES", 0, 180, unit="degrees"),
        Help("vertical field of view", "the camera's", shown="first", slider=(5, 140)),
        Affects.UNIFORMS,
    ),
    Option(
        "aperture",
        number("RADIUS", 0, 1e18, unit="scene units"),
        Help("radius of the lens; 0 is a pinhole", "the camera's", shown="first", zero="pinhole"),
        Affects.UNIFORMS,
        Scope(sampled=True),
    ),
    Option(
        "focus",
        number("DISTANCE", 1e-18, 1e18, unit="scene units"),
        Help("focus distance of the lens, along the view", "the camera's, or its target's"),
        Affects.UNIFORMS,
        Scope(sampled=True),
    ),
    Option(
        "projection",
        optional_choice("perspective", "orthographic", "equirectangular", "fisheye", "equisolid", "opencv-fisheye"),
        Help(
            "projection of the camera: a perspective, by its field of view or a matrix; parallel rays; all around, "
            "longitudes by latitudes; a fisheye's circle, equidistant or equisolid; a fisheye measured by OpenCV",
            "the camera's",
        ),
        Affects.PROGRAM,
    ),
    Option(
        "ortho",
        Value(
            values.read_ortho,
            None,
            "HEIGHT",
            "a number of scene units above {low:g}, or auto, or nothing: auto",
            0,
            1e18,
            bare="auto",
        ),
        Help(
            "an orthographic camera, and the height of what it shows; auto: as much as a perspective shows at its"
            " target",
            "none",
        ),
        Affects.PROGRAM,
    ),
    Option(
        "fisheye",
        Value(
            values.read_optional_above, None, "DEGREES", "a number of degrees above {low:g}, at most {high:g}", 0, 360
        ),
        Help(
            "a fisheye camera, and the angle across its circle, which fits in the picture",
            "none; 180 of such a projection",
        ),
        Affects.PROGRAM,
    ),
    Option(
        "intrinsics",
        Value(
            values.read_intrinsics,
            None,
            "FX,FY,CX,CY[ WxH]",
            "four numbers such as 800,800,319.5,239.5, or the nine of a matrix K, and perhaps a size: '... 640x480'",
        ),
        Help(
            "a measured camera: focal lengths and principal point in pixels, (0, 0) the centre of the upper left one,"
            " or all of its matrix K, and the size of the pictures that it is of",
            "none; its size is the picture's",
        ),
        Affects.PROGRAM,
    ),
    Option(
        "distortion",
        Value(values.read_distortion, None, "K1,K2,P1,P2[,K3 ..]", "4, 5 or 8 numbers"),
        Help(
            "OpenCV's distortion of a measured camera: K1,K2,P1,P2[,K3[,K4,K5,K6]], of a measured fisheye K1,K2,K3,K4",
            "none",
        ),
        Affects.PROGRAM,
        Scope(needs="intrinsics"),
    ),
    Option(
        "stereo",
        number("DISTANCE", 0, 1e18, unit="scene units"),
        Help(
            "a stereo pair, the left eye's picture in the left half, and the distance between the eyes; 0: one picture",
            "the camera's",
            zero="one picture",
        ),
        Affects.PROGRAM,
    ),
)

FILTER = options_of_part(
    "picture",
    Option(
        "pixel_filter",
        choice("box", "tent", "gaussian", "point"),
        Help("pixel reconstruction filter; point takes every sample at the pixel's centre"),
        Affects.UNIFORMS,
        Scope(sampled=True),
    ),
)

LIGHT = options_of_part(
    "light",
    Option(
        "environment",
        Value(
            values.read_environment,
            None,
            "none|sky|studio|FILE|R,G,B",
            "none, sky, studio, the name of a file or folder, or three numbers from 0 such as 1,1,1",
            high=1e30,
            words=("none", "sky", "studio"),
        ),
        Help(
            "environment lighting: none, a clear sky, a photo studio, an image (.hdr, .exr, .png; a folder of six cube"
            " faces), or a radiance",
            "where the scene has neither emission nor lights studio for a single object, else sky; beside "
            "lights that leave it dark the studio, beside a sun alone the sky; else none",
            shown="first",
        ),
        Affects.LIGHTING,
        Scope(offered=("page",), sampled=True),
    ),
    Option(
        "sun",
        Value(
            values.read_sun,
            None,
            "ELEVATION,AZIMUTH",
            "two numbers of degrees such as 40,60, the first from 0 to 90, the second from {low:g} to {high:g}",
            -360,
            360,
        ),
        Help("where the sky's sun is: above the horizon, and about +Y from +Z towards +X; brings the sky", "40,60"),
        Affects.LIGHTING,
        Scope(sampled=True),
    ),
    Option(
        "environment_rotation",
        number("DEGREES", -360, 360, 0.0, unit="degrees"),
        Help("rotation of the environment about +Y, counter-clockwise seen from above", slider=(0, 360)),
        Affects.UNIFORMS,
        Scope(sampled=True, added=True),
    ),
    Option(
        "background",
        Value(
            values.read_background,
            None,
            "R,G,B|WORD|blur=DEGREES",
            f"{', '.join(values.BACKGROUNDS)}, blur=DEGREES with {values.MIN_BLUR:g} to {values.MAX_BLUR:g}, or "
            "three numbers from 0 such as 1,1,1",
            high=1e30,
            words=(*values.BACKGROUNDS, "blur=10"),
        ),
        Help(
            "what the camera sees where its rays leave the scene, without a change of what lights it: the environment, "
            "sharp or blurred, a gradient, a colour in linear sRGB, or nothing but an alpha channel; mirrors and glass "
            "show the environment",
            "gradient for what stands in the studio, or in the open under a file's lights; else environment",
            shown="first",
        ),
        Affects.LIGHTING,
        Scope(offered=("page",), sampled=True, added=True),
    ),
    Option(
        "light",
        Value(
            values.read_positions,
            (),
            "NAME=X,Y,Z",
            "the name of a light and a point such as lamp=0,2,1.5",
            repeats=True,
        ),
        Help(
            "moves a light or an emissive object; may be given several times; of a directional light the direction to"
            " it",
            "where they are",
        ),
        Affects.SCENE,
        Scope(sampled=True),
    ),
)
