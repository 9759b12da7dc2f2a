"""What `pgsweep serve` exposes to Prometheus: read by `reader.py`, put into words by the rest."""
