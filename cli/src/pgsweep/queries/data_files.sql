SELECT name FROM pg_ls_dir('.') AS name
