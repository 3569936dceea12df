"""The papers' figures, once: a file for each chapter or paper, a dictionary for each table."""
