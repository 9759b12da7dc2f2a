"""The seeds' experiments, and the demo: what builds and measures, and is not installed."""
