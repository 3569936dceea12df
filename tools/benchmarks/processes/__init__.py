"""New processes, many processes, drivers."""
