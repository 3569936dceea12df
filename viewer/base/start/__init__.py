"""A command's start."""
