SELECT value AS kb, why AS device FROM sweep.sensors() WHERE name = 'disk_read_ahead' AND state = 'ok'
