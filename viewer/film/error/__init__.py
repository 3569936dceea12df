"""The error of a film: its estimate, and what follows from it."""
