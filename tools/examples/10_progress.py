"""A session: one picture on its way, looked at after 1, 4, 16 and more samples and compared with the last one."""

import os

import numpy as np

import raystream
from raystream.film.files.compare import ComparedPicture, compare
from raystream.film.files.image import save_srgb8

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 256))

session = raystream.Session(raystream.Renderer("cornell"), (SIZE, SIZE))
pictures = []
for samples in (1, 4, 16, SPP):
    session.stop_at(samples, None)
    session.finish()  # or session.advance(0.1): as much as takes a tenth of a second
    pictures.append((session.samples, session.picture().linear))
session.release()

last = ComparedPicture(f"{pictures[-1][0]} samples", pictures[-1][1])
for samples, linear in pictures[:-1]:
    found = compare(last, ComparedPicture(f"{samples} samples", linear))
    print(f"{samples:4} samples: relative error {found.error:.3f}, FLIP {found.flip}")  # None without flip-evaluator
quarters = [
    raystream.Picture(p, {}, None).srgb8()[:, k * SIZE // 4 : (k + 1) * SIZE // 4] for k, (_, p) in enumerate(pictures)
]
save_srgb8("10_progress.png", np.hstack(quarters))
