"""Machines that are not there: simulated from what rays do, for counts, costs and caches."""
