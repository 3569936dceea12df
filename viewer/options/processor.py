"""The options of the stream processor: the machine, its passes, the device."""

from __future__ import annotations

from raystream.options import named_values, values
from raystream.options.declare import Affects, Option, of_command, of_part
from raystream.options.named_values import PolicyChoice, Unroll

MACHINE = of_part(
    "machine",
    Option(
        "machine",
        values.read_word,
        "multipass",
        "how the program runs: a kernel per pass, or everything in one generated pass",
        Affects.MACHINE,
        "NAME",
        choices=("multipass", "singlepass"),
    ),
    Option(
        "policy",
        named_values.read_policy,
        PolicyChoice(),
        "which state multipass serves next; threshold takes the share of rays that must wait for the intersection",
        Affects.NOTHING,
        "NAME",
        values="{choices}, or threshold=SHARE[,active|all] with 0 < SHARE <= 1",
        choices=("sweep", "naive", "threshold", "most-work"),
        default_text="sweep",
        unless=("machine", ("singlepass",)),
    ),
    Option(
        "unroll",
        named_values.read_unroll,
        Unroll(),
        "calls of a looping kernel in one pass of multipass, N,M in the program's order; turns of a whole program",
        Affects.NOTHING,
        "N|N,M|auto",
        "calls",
        1,
        65536,
        values="auto, a whole number, or one per looping kernel such as 4,2; each from {low} to {high}",
        default_text="auto",
        unless=("machine", ("singlepass",)),
    ),
    Option(
        "fuse",
        values.read_word,
        "auto",
        "states that multipass fuses into one pass: none, all of a ray's way to its hit, or all of a path's way from "
        "surface to surface (on GPUs several passes where materials have layers); auto takes what 'raystream devices' "
        "tells",
        Affects.MACHINE,
        "NAME",
        choices=("auto", "none", "ray", "surface"),
        unless=("machine", ("singlepass",)),
    ),
    Option(
        "mask",
        values.read_word,
        "auto",
        "how multipass masks rays that wait in other states: early depth or stencil test, discard in a mask"
        " pass, no tile that a query has found empty, or none; auto likewise",
        Affects.MACHINE,
        "NAME",
        choices=("auto", "depth", "stencil", "kill", "tiles", "none"),
        unless=("machine", ("singlepass",)),
    ),
    Option(
        "tile",
        values.read_integer_or_auto,
        "auto",
        "edge of the tiles of multipass: of --mask tiles, and of --count census; auto likewise",
        Affects.MACHINE,
        "N|auto",
        "rays",
        4,
        256,
        values="auto or a whole number from {low} to {high}",
        unless=("machine", ("singlepass",)),
    ),
    Option(
        "count",
        values.read_word,
        "auto",
        "how multipass learns how many rays wait: by occlusion queries, or by a census of every tile; auto likewise",
        Affects.NOTHING,
        "NAME",
        choices=("auto", "query", "census"),
        unless=("machine", ("singlepass",)),
    ),
)

DEVICE = of_part(
    "device",
    Option(
        "device",
        values.read_optional_integer,
        None,
        "the GPU by its number in 'raystream devices'",
        Affects.DEVICE,
        "N",
        "",
        0,
        255,
        default_text="the driver's",
    ),
    Option(
        "barrier",
        values.read_word,
        "auto",
        "off copies streams between passes even where the driver has a texture barrier",
        Affects.DEVICE,
        "NAME",
        choices=("auto", "off"),
    ),
    Option(
        "memory",
        values.read_word,
        "auto",
        "where scene data lies: buffer textures where these are large enough, or 2-D and 3-D textures; auto takes what "
        "'raystream devices' tells",
        Affects.DEVICE,
        "NAME",
        choices=("auto", "buffer", "texture"),
    ),
    Option(
        "limits",
        values.read_word,
        "none",
        "imposes what graphics hardware of the papers' day allowed: outputs of a pass, sizes of textures and tables; "
        "2004 also floats of 24 bits in streams and memories",
        Affects.DEVICE,
        "YEAR",
        choices=("none", "2002", "2004"),
    ),
)

MEASURE = of_command(
    Option(
        "measure",
        values.read_file,
        None,
        "measures on this scene what auto means for --fuse, --mask, --count, --tile and --memory, and keeps it for "
        "this build of the driver: half a second, beside compiling; the pictures stay the same",
        Affects.NOTHING,
        "SCENE",
    )
)

# Of ``raystream check-shaders``.
CHECK = of_command(
    Option(
        "program",
        values.read_optional_word,
        None,
        "the forms of this program alone: a name, or a Python file of your own",
        Affects.NOTHING,
        "NAME",
    )
)
