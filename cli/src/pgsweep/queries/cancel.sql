SELECT sweep.cancel(%(pid)s) AS cancelled
