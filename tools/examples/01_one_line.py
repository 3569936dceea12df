"""A picture in one line: of a file, or as here of a built-in scene."""

import os

import raystream

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 64))

raystream.render("teapotahedron", size=(SIZE, SIZE), spp=SPP).save("01_one_line.png")
# raystream.show("teapotahedron") opens the window.
