"""What `pgsweep agent` does: finds what a server's tables need, and has it done within bounds."""
