SELECT sweep.release(%(pid)s) AS done
