#!/bin/sh
# Makes the Debian packages of the source archive, in the chroot that has what builds them. All
# that comes of it is in out. It makes a newer one of each, too, to test the upgrade with.
set -eu
. ./check.sh

version=$1
mkdir -p out work
cp "pg_sweep-$version.tar.gz" "work/pg-sweep_$version.orig.tar.gz"
tar -C work -xzf "pg_sweep-$version.tar.gz"
cd "work/pg_sweep-$version"
cp -R packaging/debian debian
check 'debian/control names a package for each major' pg_buildext updatecontrol
check 'the Debian packages are built' dpkg-buildpackage -us -uc
cp ../*.deb ../*.dsc ../*.changes ../*.tar.* ../../out
cp debian/control ../../out
check 'lintian finds no error' lintian --fail-on error --tag-display-limit 0 --allow-root ../*.changes
sed 's/^/# /' /tmp/check.log

has() { # DEB FILE...
	dpkg-deb -c "$1" >/tmp/content
	shift
	for file; do
		grep -qE " \./$file\$" /tmp/content || { echo "it has no $file:"; cat /tmp/content; return 1; }
	done
}
for deb in ../postgresql-*-pg-sweep_*.deb; do
	major=${deb#../postgresql-}
	major=${major%%-*}
	lib=usr/lib/postgresql/$major/lib
	extension=usr/share/postgresql/$major/extension
	doc=usr/share/doc/postgresql-$major-pg-sweep
	check "the package for $major has libraries, SQL objects and documentation" has "$deb" \
		"$lib/pg_sweep.so" "$lib/pg_sweep_cleaner.so" "$lib/pg_sweep_simulate.so" "$extension/pg_sweep.control" \
		"$extension/pg_sweep--$version.sql" "$doc/README.md" "$doc/docs/settings.md" "$doc/changelog.gz" "$doc/copyright" \
		"usr/lib/tmpfiles.d/postgresql-$major-pg-sweep.conf"

	dpkg-deb -R "$deb" /tmp/newer
	sed -i 's/^Version: .*/&+test1/' /tmp/newer/DEBIAN/control
	dpkg-deb -b /tmp/newer "../../out/newer_$major.deb" >/dev/null
	rm -rf /tmp/newer
done
