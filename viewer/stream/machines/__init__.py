"""Machines: each runs a program over a stream of rays until every ray is done."""
