"""``raystream doctor``: a machine and its driver examined, as one file and one line for an issue."""
