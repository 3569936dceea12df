"""New processes and many processes: starts, caches, farms, memory over time."""
