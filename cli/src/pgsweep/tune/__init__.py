"""`pgsweep tune`: from what is wanted to a verified setting.

`targets`, `advice`, `settings` and `history` are pure. `experiment` puts load on a scratch
database, `machine` reads /proc, and `kept` remembers what --apply replaced.
"""
