"""``raystream doctor``: what a machine and its driver do, as one file and one line for an issue."""
