SELECT sweep.snooze(%(relid)s::oid::regclass, %(duration)s::interval) AS until
