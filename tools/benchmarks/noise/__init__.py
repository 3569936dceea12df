"""Light, photons, convergence beside other renderers, adaptive sampling, denoisers."""
