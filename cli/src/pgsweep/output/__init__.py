"""How it is shown: terminal, top, web, Prometheus, report."""
