#!/bin/sh
# Makes the RPM of the source archive with Debian's rpmbuild and PostgreSQL, and looks at it.
set -eu
. ./check.sh

version=$1 major=$2
bin=/usr/lib/postgresql/$major/bin
mkdir -p work/SOURCES
cp "pg_sweep-$version.tar.gz" work/SOURCES
tar -xzf "pg_sweep-$version.tar.gz" --strip-components=3 "pg_sweep-$version/packaging/rpm/pg_sweep.spec"
set -- --define "_topdir $PWD/work" --define "pgmajor $major" --define 'debug_package %{nil}' \
	--define '_tmpfilesdir /usr/lib/tmpfiles.d' --define "pgprefix ${bin%/bin}" --define "pgsharedir $("$bin/pg_config" --sharedir)"
check 'rpmspec reads the spec' rpmspec -P "$@" pg_sweep.spec
check 'rpmspec reads it for its default, too' rpmspec -P pg_sweep.spec
check 'rpmlint finds no error' rpmlint pg_sweep.spec
sed 's/^/# /' /tmp/check.log
check 'the RPM is built' rpmbuild -bb --nodeps "$@" pg_sweep.spec
has() {
	rpm -qlp "$rpm" >files
	cat files
	for file in pg_sweep.so pg_sweep_cleaner.so pg_sweep_simulate.so pg_sweep.control "pg_sweep--$version.sql" README.md LICENSE tmpfiles.d/pg_sweep_$major.conf; do
		grep -q "/$file\$" files || { echo "it has no $file"; return 1; }
	done
}
rpm=$(ls work/RPMS/*/*.rpm)
check 'it has libraries, SQL objects and documentation' has
