SELECT sweep.hurry(%(pid)s) AS done
