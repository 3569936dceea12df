"""The version, written here alone; the packaging reads it from this file."""

__version__ = "0.1.0"
