SELECT used, stop_at FROM sweep.wraparound WHERE ids = 'member'
