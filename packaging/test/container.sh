#!/bin/sh
# Runs the commands of the Containerfile's first stage in the chroot that has what builds the
# packages, and looks at what the second stage copies.
set -eu
. ./check.sh

version=$1 major=$2
tar -xzf "pg_sweep-$version.tar.gz"
cd "pg_sweep-$version"
mkdir -p /src
cp -R . /src
export PG_MAJOR="$major"
# lines that end in a backslash go on, and the first stage ends where another one begins
sed -e ':a' -e '/\\$/N; s/\\\n//; ta' packaging/container/Containerfile |
	sed -n -e '/^FROM .*-bookworm$/q' -e 's/^RUN //p' >/tmp/steps
check 'the Containerfile has steps' test -s /tmp/steps
check 'they run' sh -euc 'cd /src && . /tmp/steps'
for file in lib/postgresql/$major/lib/pg_sweep.so lib/postgresql/$major/lib/pg_sweep_cleaner.so lib/postgresql/$major/lib/pg_sweep_simulate.so \
	share/postgresql/$major/extension/pg_sweep.control "share/postgresql/$major/extension/pg_sweep--$version.sql"; do
	check "/usr/$file is copied" test -s "/out/usr/$file"
done
