SELECT sql_version, library_version FROM sweep.status
