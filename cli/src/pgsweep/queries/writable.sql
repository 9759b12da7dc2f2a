-- sweep.set() is the only function that writes a table.
SELECT set_config('default_transaction_read_only', %(read_only)s, false)
