"""The papers' own figures, a file per chapter or paper; they stand nowhere else."""
