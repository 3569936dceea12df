"""The options of pictures and movies: size, samples, files, frames, display."""

from __future__ import annotations

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Scope, Value, options_of_part
from raystream.options.values import ON_OFF, SWITCH, file, integer, number, open_number, optional_choice

# Samples per pixel where --spp does not say: alone, and where --time or --error is to end the picture.
DEFAULT_SAMPLES, MAX_SAMPLES = 32, 65536
# Limits of --quality: estimated relative error before Open Image Denoise, and samples per pixel at most.
QUALITIES: dict[str, tuple[float, int]] = {"draft": (0.2, 8), "good": (0.1, DEFAULT_SAMPLES), "best": (0.02, 1024)}
BEST_STATE = "auto"  # of a stopped render, in place of a file's name
DEFAULT_QUALITY = "good"  # of a picture to be looked at, without any limit
_LIMITS = "; ".join(f"{name} {100 * noise:g} %, {samples:,}" for name, (noise, samples) in QUALITIES.items())
MAX_SHUTTER_KEYS = 33  # of an exposure

WHOLE = options_of_part(
    "picture",
    Option(
        "output",
        file(
            "OUT",
            "a file name ending in .png or .jpg (8 bit sRGB), .exr or .npz (float32 linear, with layers); "
            "- is a PNG on standard output",
        ),
        Help("the picture", short="-o", shown="first"),
        Affects.NOTHING,
        Scope("command", serves="file"),
    ),
    Option(
        "size",
        Value(
            values.read_size,
            (512, 512),
            "WxH",
            "WIDTHxHEIGHT such as 640x480, or one number for a square; each from {low} to {high} pixels",
            1,
            values.MAX_SIDE,
        ),
        Help("width and height of the picture", "512x512", shown="first"),
        Affects.SAMPLES,
        Scope("render"),
    ),
    Option(
        "spp",
        integer(1, MAX_SAMPLES),
        Help("samples per pixel, at most", f"{DEFAULT_SAMPLES}; with --time or --error {MAX_SAMPLES}", shown="first"),
        Affects.SAMPLES,
        Scope("render", offered=("page",), sampled=True),
    ),
    Option(
        "time",
        number("SECONDS", 0, 1e7, unit="seconds"),
        Help("time limit: no more samples after these seconds", "none", shown="first"),
        Affects.SAMPLES,
        Scope("render", sampled=True),
    ),
    Option(
        "error",
        open_number("SHARE", 0, 1, note=" such as 0.01"),
        Help("noise limit: no more samples at this estimated relative error of the picture", "none", shown="first"),
        Affects.SAMPLES,
        Scope("render", sampled=True),
    ),
    Option(
        "quality",
        optional_choice(*QUALITIES),
        Help(
            f"limits of noise and samples ({_LIMITS}; half the noise without Open Image Denoise) with a denoiser: that"
            " one where it is installed, else --denoise shader; .exr and .npz stay as they are sampled",
            f"{DEFAULT_QUALITY} for .png and .jpg without --spp, --time, --error, --resume, --sample-range"
            " and --cluster; else none",
            shown="first",
        ),
        Affects.SAMPLES,
        Scope("render", sampled=True),
    ),
    Option(
        "resume",
        file("FILE.exr|auto", "a file that was rendered with the same settings, or auto"),
        Help(
            "go on from an EXR of the same picture, with the bits of an unbroken render by one driver; auto: from what"
            " a stopped one left",
            "none",
            shown="first",
        ),
        Affects.SAMPLES,
        Scope("render", serves="file"),
    ),
    Option(
        "sample_range",
        integer(1, MAX_SAMPLES),
        Help(
            "so many samples of a pixel are summed by themselves before they join the sum, with the bits of a cluster"
            " whose units are samples",
            "each joins it; with --unit samples 16",
            shown="papers",
        ),
        Affects.SAMPLES,
        Scope("render", serves="batch"),
    ),
)

SHOWN = options_of_part(
    "picture",
    Option(
        "adaptive",
        ON_OFF,
        Help(
            "fewer samples where there is less noise, for the same error of the picture: with --error, and a noise"
            " limit in the window"
        ),
        Affects.SAMPLES,
    ),
    Option(
        "layers",
        Value(values.read_names, (), "NAMES", "names with commas between them, of {choices}"),
        Help("feature layers beside the colour", "none", shown="first"),
        Affects.SAMPLES,
        Scope("render", serves="batch"),
    ),
    Option(
        "denoise",
        Value(values.read_denoiser, "auto", "NAME", choices=("auto", "none", "shader", "oidn")),
        Help(
            "denoiser: in fragment programs, or Open Image Denoise, which raystream[denoise] installs (auto: that one"
            " where it is there, in the window at rest and as --quality has it); the noisy picture becomes a layer,"
            " and what is summed and resumed stays",
            shown="first",
        ),
        Affects.NOTHING,
        Scope(offered=("page",)),
    ),
    Option(
        "tonemap",
        Value(values.read_word, "agx", "NAME"),
        Help("tone map of .png and .jpg, for radiance above white", shown="first"),
        Affects.NOTHING,
        Scope("save", offered=("page",)),
    ),
    Option(
        "exposure",
        Value(
            values.read_real_or_auto,
            "auto",
            "STOPS|auto",
            "auto or a number of stops from {low:g} to {high:g}",
            -32,
            32,
        ),
        Help(
            "exposure of .png and .jpg: each stop doubles the brightness; auto: by the picture's own luminance, of"
            " frames by the first one's",
            shown="first",
            slider=(-8, 8),
        ),
        Affects.NOTHING,
        Scope("save", offered=("page",)),
    ),
    Option(
        "stats",
        file("FILE.json", "a file name such as stats.json"),
        Help("write the counters of every pass: calls, steps, tests, times", "none"),
        Affects.NOTHING,
        Scope("call", serves="file"),
    ),
)

MOTION = options_of_part(
    "motion",
    Option(
        "frames",
        Value(
            values.read_frames,
            None,
            "FIRST-LAST",
            "two whole numbers such as 0-119, the first not after the last, up to {high}",
            high=values.MAX_FRAME,
        ),
        Help(
            "render frames of motion: into files numbered by %04d in the name of -o, or into one .mp4 or .gif",
            "none",
            shown="first",
        ),
        Affects.SCENE,
        Scope("call", serves="file"),
    ),
    Option(
        "fps",
        number("N", 0.01, 1000, 30.0),
        Help("frames per second: frame n shows the animation at n / fps seconds"),
        Affects.SCENE,
        Scope("call", serves="batch"),
    ),
    Option(
        "turntable",
        SWITCH,
        Help("in these frames the camera orbits the scene once"),
        Affects.UNIFORMS,
        Scope("call", serves="file"),
    ),
    Option(
        "moment",
        number("SECONDS", 0, 1e6, unit="seconds"),
        Help(
            "the animation's time in one picture, or where a window opens", "the rest pose of the file", shown="first"
        ),
        Affects.SCENE,
        Scope("command"),
    ),
    Option(
        "shutter",
        Value(
            values.read_shutter,
            None,
            "OPEN,CLOSE",
            "two numbers from {low:g} to {high:g} such as 0,0.5, the first not after the last",
            0,
            1,
        ),
        Help(
            "motion blur: when the shutter opens and closes, as shares of a frame from its time on",
            "none",
            shown="first",
        ),
        Affects.SCENE,
        Scope("call", serves="batch"),
    ),
    Option(
        "motion_keys",
        integer(2, MAX_SHUTTER_KEYS, "auto"),
        Help(
            "times of the shutter at which what moves is placed, in between on straight lines; auto: as many as turns"
            " need"
        ),
        Affects.SCENE,
        Scope("call", serves="batch", needs="shutter"),
    ),
    Option(
        "animation",
        Value(
            values.read_optional_name, None, "NAME|N|all", "a name, a number from 0 in the file's order, or all at once"
        ),
        Help("which of the scene's animations plays", "the scene's first"),
        Affects.SCENE,
        Scope("command"),
    ),
)

COMMAND = options_of_part(
    "command",
    Option(
        "preset",
        optional_choice("2002", "2003", "2004"),
        Help(
            "other defaults: the published machine (a grid, one kernel call in a pass) and its path tracer, 256 x 256"
            " with 64 samples; 2002 scatters twice, 2004 until a light is hit; 2003 is photon mapping as published,"
            " glass_ball, ring and cornell_photons with the settings of the paper's scenes",
            "none",
            shown="papers",
        ),
        Affects.NOTHING,
        Scope("command"),
    ),
    Option("quiet", SWITCH, Help("print nothing but errors"), Affects.NOTHING, Scope("command", serves="batch")),
    Option(
        "debug", SWITCH, Help("show the traceback of an error"), Affects.NOTHING, Scope("command", offered=("info",))
    ),
)
