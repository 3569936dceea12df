"""A plug-in whose parts are all broken."""
