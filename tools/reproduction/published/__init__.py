"""The papers' own figures, a file per chapter or paper, and what they say, as tables; they stand nowhere else."""
