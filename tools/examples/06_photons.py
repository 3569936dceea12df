"""Photon mapping: a caustic in a ring of metal."""

import os

import raystream

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 16))

PHOTONS = 512 * SIZE // 10
picture = raystream.render("ring", program="photon", photons=PHOTONS, size=(SIZE, SIZE), spp=SPP)
picture.save("06_photons.png")
