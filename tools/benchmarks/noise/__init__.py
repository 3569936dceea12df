"""Noise: convergence beside other renderers, adaptive sampling, denoisers."""
