"""Debug views: inspector, probe, heat map, false colours."""
