"""The seeds' experiments: what they are, how they run, what they found."""
