"""`pgsweep serve`: an HTTP server. `collector.py` reads, `app.py` answers, `logs.py` writes."""
