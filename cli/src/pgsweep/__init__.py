"""pgsweep: the command of pg_sweep, an autovacuum people can see, steer and trust."""

__version__ = "0.1.0"
