"""A turntable: the camera goes around the scene once, into a movie; .mp4 needs imageio-ffmpeg."""

import os

import raystream

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 240)), int(os.environ.get("EXAMPLE_SPP", 16))

frames = list(
    raystream.render_frames(
        "ring", range(8), turntable=True, environment="sky", clamp=5, render={"size": (SIZE, SIZE), "spp": SPP}
    )
)
raystream.save_frames("04_turntable.gif", (frame for frame in frames), fps=4)
frames[1].picture.save("04_turntable.png")
