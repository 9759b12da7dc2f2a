#!/bin/sh
# The two commands of README.md, from a clone, in a chroot that has make, git and certificates,
# and nothing else. Of the tests those run that take minutes and not a quarter of an hour.
set -eu
. ./check.sh

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
# as after a login
unset PG_CONFIG PG_SWEEP_VENV
check 'the lists of packages are fetched' apt-get -q -y update
check 'make and git are installed' apt-get -q -y --no-install-recommends install make git
check 'the repository is cloned' git -c safe.directory='*' clone -q pg_sweep.bundle clone
cd clone

demo() { make demo SECONDS=60 JSON=1 >/tmp/demo.json; }
check 'make demo SECONDS=60 JSON=1' demo
has_runs() { python3 -c 'import json, sys; sys.exit(not json.load(open("/tmp/demo.json")))'; }
check 'it prints the runs, and nothing else' has_runs
check 'make test, as far as it is quick' make test SUITES='unit invariants regress isolation'
tail -n 12 /tmp/check.log | sed 's/^/# /'
left() { ! ls -d /tmp/pgsw* /tmp/pgsweep-* 2>/dev/null; }
check 'nothing is left in /tmp' left
clean() { git status --porcelain >/tmp/status && cat /tmp/status && [ ! -s /tmp/status ]; }
check 'the clone is clean' clean
