"""Many servers as one: who is there, what each says, and one command for all of them.

`node.py` has what a server is here. `file.py`, `citus.py`, `patroni.py` and `cloudberry.py` say
who is there, `providers.py` asks those that were chosen. `asking.py` asks all nodes at the same
time.
"""
