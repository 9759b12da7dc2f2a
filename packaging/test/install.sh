#!/bin/sh
# Installs, upgrades and purges the Debian package for one major, in a chroot with nothing else.
set -eu
. ./check.sh

major=$1
package=postgresql-$major-pg-sweep
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
apt() { apt-get -q -y --no-install-recommends "$@"; }
sql() { su postgres -c "psql -XAtq -v ON_ERROR_STOP=1 -c \"$1\""; }
is() { # VALUE QUERY: at once or soon
	for _ in $(seq 300); do
		got=$(sql "$2" 2>&1) || true
		[ "$got" != "$1" ] || return 0
		sleep 0.2
	done
	echo "$2 is $got, and not $1"
	return 1
}

check 'the lists of packages are fetched' apt update
check 'it is installed, and brings the server' apt install ./"$package"_*.deb
check 'its files are whole' dpkg --verify "$package"
check 'debian/tests/server passes' env AUTOPKGTEST_TMP=/tmp sh tests/server

check 'a server is made' pg_createcluster "$major" main -- --no-locale --encoding=UTF8
check 'a server starts with it' sh -c "echo \"shared_preload_libraries = 'pg_sweep'\" >>/etc/postgresql/$major/main/postgresql.conf &&
	pg_ctlcluster $major main start"
check 'the extension is created' sql 'CREATE EXTENSION pg_sweep'
started=$(sql 'SELECT pg_postmaster_start_time()')
check 'the package is upgraded under the running server' apt install "./newer_$major.deb"
check 'the server was not restarted by that' is "$started" 'SELECT pg_postmaster_start_time()'
check 'it answers as before' is 'observe|t' 'SELECT effective_mode, sql_version = library_version FROM sweep.status'
check 'the server restarts with the new library' pg_ctlcluster "$major" main restart
check 'it answers then' is 'observe|t' 'SELECT effective_mode, sql_version = library_version FROM sweep.status'

dpkg -L "$package" >/tmp/files
check 'the extension is dropped' sql 'DROP EXTENSION pg_sweep'
check 'the package is purged' apt purge "$package"
nothing_left() {
	while read -r file; do
		if [ -e "$file" ] && [ ! -d "$file" ]; then echo "$file is left"; return 1; fi
	done </tmp/files
	! dpkg -s "$package"
}
check 'nothing of it is left' nothing_left
check 'the running server does not mind' is 1 'SELECT 1'
check 'without the line in postgresql.conf the server starts' sh -c "sed -i /pg_sweep/d /etc/postgresql/$major/main/postgresql.conf &&
	pg_ctlcluster $major main restart"
check 'it answers' is 1 'SELECT 1'
pg_ctlcluster "$major" main stop -m fast
