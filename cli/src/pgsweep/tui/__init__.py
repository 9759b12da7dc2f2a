"""`pgsweep top`: pure key handling, a fetching thread, and a thin Textual application."""
