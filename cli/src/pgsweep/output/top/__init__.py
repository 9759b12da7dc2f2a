"""`pgsweep top`: pure key handling, a fetching thread, and thin Textual applications."""
