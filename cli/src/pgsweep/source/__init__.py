"""The connection, and what the server is asked."""
