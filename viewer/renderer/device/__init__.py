"""A scene on a device: tables, machines, tiles and their jobs."""
