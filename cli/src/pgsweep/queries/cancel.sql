SELECT sweep.cancel(%(pid)s, %(snooze)s::interval) AS done
