"""Decoders of compressed meshes and images, each through its library."""
