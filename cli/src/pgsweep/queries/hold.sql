SELECT sweep.hold(%(duration)s::interval) AS until
