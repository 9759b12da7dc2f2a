"""One file per command; each only fetches, renders and chooses the exit code."""
