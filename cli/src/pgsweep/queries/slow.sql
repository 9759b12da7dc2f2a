SELECT sweep.slow(%(pid)s) AS done
