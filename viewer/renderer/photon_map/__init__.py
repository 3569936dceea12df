"""Photons traced and brought to the cells of their map."""
