#!/bin/sh
# Installs the command from its archives, in a chroot with Python and nothing else.
set -eu
. ./check.sh

version=$1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt() { apt-get -q -y --no-install-recommends "$@"; }
check 'the lists of packages are fetched' apt update
check 'Python and pipx are installed' apt install python3-venv pipx

check 'a fresh environment is made' python3 -m venv /opt/pgsweep
check 'the wheel is installed into it' /opt/pgsweep/bin/pip install "./pgsweep-$version-py3-none-any.whl"
says_version() { "$@" >/tmp/said && cat /tmp/said && grep -qF "$version" /tmp/said; }
check 'pgsweep --version' says_version /opt/pgsweep/bin/pgsweep --version
check 'pip finds no conflict' /opt/pgsweep/bin/pip check
for file in man/man1/pgsweep.1 man/man1/pgsweep-top.1 bash-completion/completions/pgsweep \
	zsh/site-functions/_pgsweep fish/vendor_completions.d/pgsweep.fish pgsweep/pgsweep-serve.service; do
	check "it has share/$file" test -s "/opt/pgsweep/share/$file"
done

check 'a wheel is made of the sdist' /opt/pgsweep/bin/pip wheel --no-deps -w again "./pgsweep-$version.tar.gz"
names() { python3 -c 'import sys, zipfile; print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()), sep="\n")' "$1"; }
same_names() {
	names "pgsweep-$version-py3-none-any.whl" >one
	names "again/pgsweep-$version-py3-none-any.whl" >other
	diff one other
}
check 'it has the same files' same_names

export PIPX_HOME=/opt/pipx PIPX_BIN_DIR=/usr/local/bin
check 'pipx installs it' pipx install "./pgsweep-$version-py3-none-any.whl"
check 'pgsweep --version, by pipx' says_version pgsweep --version
check 'pipx removes it' pipx uninstall pgsweep
