"""Pictures, films and movies as files."""
