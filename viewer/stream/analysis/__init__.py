"""Instruction counts of generated programs."""
