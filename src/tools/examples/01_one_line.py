"""A picture in one line: of a file, or as here of a built-in scene."""

import os

import viewer

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 64))

viewer.render("teapotahedron", size=(SIZE, SIZE), spp=SPP).save("01_one_line.png")
# viewer.show("teapotahedron") opens the window.
