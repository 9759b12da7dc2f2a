"""One file per command. Each only fetches, renders and chooses the exit code."""
