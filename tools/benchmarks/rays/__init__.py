"""Structures, machines, meshes that deform, programs for GPUs."""
