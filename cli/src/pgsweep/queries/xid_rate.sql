SELECT xids_per_s, mxids_per_s FROM sweep.get_xid_rate()
