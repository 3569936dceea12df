"""Self-tests of a driver: the features that programs, masks and memories rest on, each held to a NumPy model."""
