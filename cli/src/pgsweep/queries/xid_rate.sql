SELECT max(per_s) FILTER (WHERE ids = 'xid') AS xids_per_s, max(per_s) FILTER (WHERE ids = 'mxid') AS mxids_per_s,
       max(per_s) FILTER (WHERE ids = 'member') AS members_per_s
FROM sweep.wraparound
