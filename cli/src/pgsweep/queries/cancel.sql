SELECT sweep.cancel(%(pid)s) AS done
