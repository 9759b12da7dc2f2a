SELECT sweep.slow(%(pid)s, %(write_limit)s, %(read_limit)s) AS done
