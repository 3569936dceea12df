"""T: tables 2 and 3 of the thesis on Whitted ray tracing by OpenCL and CUDA: seconds and frames a second, GTX 280."""

from __future__ import annotations

DEVICE = "GeForce GTX 280"
BACK_ENDS = ("CPU", "Emul", "OpenCL", "CUDA")
# Our stand-ins, built in or files of the scene data.
SCENES = {"Sphere": "sphere", "Bunny": "bunny.ply", "Dragon": "dragon.ply"}
TRIANGLES = {"Sphere": 10_000, "Bunny": 69_453, "Dragon": 871_416}
# Table 2, seconds a frame; table 3, frames a second, as printed.
SECONDS = {
    "Sphere": (17.9, 1.93, 0.33, 0.105),
    "Bunny": (5.115, 2.01, 0.515, 0.187),
    "Dragon": (13.25, 4.46, 1.49, 0.41),
}
RATES = {"Sphere": (0.1, 0.5, 3.0, 9.5), "Bunny": (0.2, 0.5, 1.9, 5.3), "Dragon": (0.1, 0.2, 0.7, 2.4)}
INTERSECTIONS = 100_000  # made a frame, about
# Figure 8-1: MB/s of copies of 32 MiB.
COPIED = 32 * 1024**2
BANDWIDTH = {
    "host to device": {"CUDA": 1949.0, "OpenCL": 2303.3},
    "device to host": {"CUDA": 1856.9, "OpenCL": 2265.7},
    "device to device": {"CUDA": 120509.5, "OpenCL": 38444.9},
}
REFLECTION = 2.0  # (6.8): r = d + 2 a, where a = (d . n) n / |n|^2
MINUTE = 60.0  # seconds a scene, the camera moving all the time
