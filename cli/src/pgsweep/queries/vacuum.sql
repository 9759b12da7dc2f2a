SELECT sweep.vacuum(%(relid)s::oid::regclass, %(aux)s) AS request_id
