SELECT sweep.cancel(%(pid)s, %(snooze)s::interval, %(force)s) AS done
