"""A view in a browser, near or far: `raystream view MODEL --remote`."""
