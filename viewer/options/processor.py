"""The options of the stream processor: the machine, its passes, the device."""

from __future__ import annotations

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Scope, Value, options_of_part
from raystream.options.values import SWITCH, PolicyChoice, Unroll, choice, file, integer

MULTIPASS = options_of_part(
    "machine",
    Option(
        "policy",
        Value(
            values.read_policy,
            PolicyChoice(),
            "NAME",
            "{choices}, or threshold=SHARE[,active|all] with 0 < SHARE <= 1",
            choices=("sweep", "naive", "threshold", "most-work"),
        ),
        Help(
            "which state multipass serves next; threshold takes the share of rays that must wait for the intersection",
            shown="papers",
        ),
        Affects.NOTHING,
    ),
    Option(
        "unroll",
        Value(
            values.read_unroll,
            Unroll(),
            "N|N,M|auto",
            "auto, a whole number, or one per looping kernel such as 4,2; each from {low} to {high}",
            1,
            65536,
        ),
        Help(
            "calls of a looping kernel in one pass of multipass, N,M in the program's order; turns of a whole program",
            shown="papers",
        ),
        Affects.NOTHING,
    ),
    Option(
        "fuse",
        choice("auto", "none", "ray", "surface"),
        Help(
            "states that multipass fuses into one pass: none, all of a ray's way to its hit, or all of a path's way"
            " from surface to surface (on GPUs several passes where materials have layers); auto takes what 'raystream"
            " devices' tells",
            shown="papers",
        ),
        Affects.MACHINE,
    ),
    Option(
        "mask",
        choice("auto", "depth", "stencil", "kill", "tiles", "none"),
        Help(
            "how multipass masks rays that wait in other states: early depth or stencil test, discard in a mask"
            " pass, no tile that a query has found empty, or none; auto likewise",
            shown="papers",
        ),
        Affects.MACHINE,
    ),
    Option(
        "tile",
        integer(4, 256, "auto"),
        Help("edge of the tiles of multipass: of --mask tiles, and of --count census; auto likewise", shown="papers"),
        Affects.MACHINE,
    ),
    Option(
        "count",
        choice("auto", "query", "census"),
        Help(
            "how multipass learns how many rays wait: by occlusion queries, or by a census of every tile; auto"
            " likewise",
            shown="papers",
        ),
        Affects.NOTHING,
    ),
    unless=("machine", ("singlepass",)),
)

MACHINE = (
    *options_of_part(
        "machine",
        Option(
            "machine",
            choice("multipass", "singlepass"),
            Help("how the program runs: a kernel per pass, or everything in one generated pass", shown="papers"),
            Affects.MACHINE,
        ),
    ),
    *MULTIPASS,
)

DEVICE = options_of_part(
    "device",
    Option(
        "device", integer(0, 255), Help("the GPU by its number in 'raystream devices'", "the driver's"), Affects.DEVICE
    ),
    Option(
        "barrier",
        choice("auto", "off"),
        Help("off copies streams between passes even where the driver has a texture barrier", shown="papers"),
        Affects.DEVICE,
    ),
    Option(
        "memory",
        choice("auto", "buffer", "texture"),
        Help(
            "where scene data lies: buffer textures where these are large enough, or 2-D and 3-D textures; auto takes"
            " what 'raystream devices' tells",
            shown="papers",
        ),
        Affects.DEVICE,
    ),
    Option(
        "limits",
        choice("none", "2002", "2004", metavar="YEAR"),
        Help(
            "imposes what graphics hardware of the papers' day allowed: outputs of a pass, sizes of textures and"
            " tables; 2004 also floats of 24 bits in streams and memories",
            shown="papers",
        ),
        Affects.DEVICE,
    ),
    Option(
        "cluster",
        file(
            "local[:N]|tcp://HOST:PORT|FILE",
            "local, local:N, an address such as tcp://HOST:8786, or a scheduler's file",
        ),
        Help(
            "rendered by many processes, with the bits of one: on this machine, as many as cores or N; on the workers"
            " of a scheduler of dask.distributed, by its address or its file",
            "this process alone",
            shown="first",
        ),
        Affects.NOTHING,
        Scope("call", serves="batch"),
    ),
    Option(
        "unit",
        choice("tiles", "samples"),
        Help(
            "what a process of a cluster makes at a time: a tile of the picture, or a range of samples of all its"
            " pixels; with --frames a frame",
            shown="papers",
        ),
        Affects.NOTHING,
        Scope("call", serves="batch", needs="cluster"),
    ),
    Option(
        "mix_builds",
        SWITCH,
        Help("workers of different versions and drivers may make one picture, with bits of its own", shown="papers"),
        Affects.NOTHING,
        Scope("call", serves="batch", needs="cluster"),
    ),
    Option(
        "jobs",
        integer(1, 256, 1),
        Help("processes among which several scenes are shared out", shown="first"),
        Affects.NOTHING,
        Scope("command", serves="file"),
    ),
)
