# What the scripts in tools/ share. It is sourced and never run. It sets $top (the
# repository) and $cache (where chroots, built servers and the formatter are kept
# between runs).

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=$(basename "$0")
# CI may run without HOME
export HOME="${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6)}"
cache=${PG_SWEEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pg_sweep}

# What a Makefile passes down to a sub-make (PG=17, COPT=..., the job server) is meant for
# that Makefile. A script that calls make again for another server must not inherit it.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL GNUMAKEFLAGS

# Messages go to stderr: several scripts print a result (a path) on stdout.
say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() { printf '%s: error: %s\n' "$me" "$*" >&2; exit 1; }
# For something that this machine cannot have, which is no fault of what is tested.
unavailable() { printf '%s: NOT RUN: %s\n' "$me" "$*" >&2; exit 75; }

# on_exit COMMAND: runs it at the end of the script, also when a signal ends that
on_exit() {
	# shellcheck disable=SC2064
	trap "$1" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

is_root() { [ "$(id -u)" -eq 0 ]; }

# Run one command as root: directly, or through sudo.
as_root() {
	if is_root; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		die "this needs root and there is no sudo here; as root run: $*"
	fi
}

# Start the calling script again as root. The cache stays the one of the calling user,
# or every user switch would build its own chroots.
need_root() {
	is_root && return 0
	command -v sudo >/dev/null 2>&1 ||
		die "a chroot can only be made and entered by root and there is no sudo here; run it as root: $0 $*"
	say "a chroot can only be made and entered by root: asking sudo"
	exec sudo --preserve-env=KEEP,TEST_TIMEOUT,http_proxy,https_proxy,no_proxy \
		env PG_SWEEP_CACHE="$cache" "$BASH" "$0" "$@"
}

# Is this Debian package installed?
has_package() {
	case $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) in
	ii* | hi*) return 0 ;;
	*) return 1 ;;
	esac
}

# apt_install PACKAGE...: refreshes the lists only when apt does not know a package or
# cannot fetch the version that it knows.
apt_install() {
	command -v apt-get >/dev/null 2>&1 ||
		die "missing: $* (Debian's names); there is no apt-get here, install them with this system's package manager"
	# a lock that another apt holds is waited for
	local run=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -q --no-install-recommends "$@")
	if apt-cache show "$@" >/dev/null 2>&1 && as_root "${run[@]}" >&2 </dev/null; then
		return 0
	fi
	as_root apt-get update -q >&2 </dev/null ||
		die "apt-get update failed (see above): check the network and this system's package sources"
	as_root "${run[@]}" >&2 </dev/null ||
		die "apt-get could not install: $* (see above)"
}

# The repository's files (tracked, and new ones that are not ignored), NUL-separated and
# relative to $top. Without git (a tarball, the copy in a chroot) every file is source.
list_files() {
	if git_here; then
		# A deleted but not yet staged file is still listed: leave it out.
		git -C "$top" -c safe.directory='*' ls-files -co --exclude-standard -z |
			(cd "$top" && while IFS= read -r -d '' f; do
				if [ -e "$f" ] || [ -L "$f" ]; then printf '%s\0' "$f"; fi
			done)
	else
		(cd "$top" && find . \( -name .git -o -name .venv -o -name __pycache__ \) -prune -o \
			\( -type f -o -type l \) -printf '%P\0')
	fi
}

git_here() {
	[ -e "$top/.git" ] && command -v git >/dev/null 2>&1 &&
		git -C "$top" -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1
}

# What tools/charts has fetched, which git ignores.
charts=cli/src/pgsweep/output/report/vendor

# copy_files DIR: copies the files of list_files into DIR, and the charts if they are there.
copy_files() {
	mkdir -p "$1"
	list_files | tar -C "$top" --null --no-recursion -T - -cf - | tar -C "$1" --no-same-owner -xf -
	if [ -d "$top/$charts" ]; then
		mkdir -p "$1/$charts"
		cp -R "$top/$charts/." "$1/$charts"
	fi
}

# Ends the processes whose ids are in postmaster.pid files below a directory. A test that
# was interrupted has left them running. The id is trusted only if that process has its
# working directory there, because ids are reused.
stop_servers_below() {
	local file pid cwd i
	[ -d "$1" ] || return 0
	find "$1" -name postmaster.pid -type f 2>/dev/null | while IFS= read -r file; do
		pid=$(head -n 1 "$file" 2>/dev/null || true)
		case $pid in '' | *[!0-9]*) continue ;; esac
		cwd=$(readlink "/proc/$pid/cwd" 2>/dev/null || true)
		[ "$cwd" = "$(dirname "$file")" ] || continue
		kill -QUIT "$pid" 2>/dev/null || continue
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
	done
}

# Prints "URI KEYRING" of the Debian mirror that this system itself installs from. KEYRING
# is "-" when the source names none. Fails when this is not Debian or none is found.
debian_mirror() {
	local id codename files uri keyring
	[ -r /etc/os-release ] || return 1
	id=$(. /etc/os-release && printf %s "${ID:-}")
	codename=$(. /etc/os-release && printf %s "${VERSION_CODENAME:-}")
	# Ubuntu and others take their packages from archives that hold no Debian suite.
	[ "$id" = debian ] || return 1
	files=$(ls /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null || true)
	# testing and unstable may have no codename, or be listed under another name
	# shellcheck disable=SC2086
	set -- $(awk -v code="$codename" '
		function finish() {
			if (types ~ /(^| )deb( |$)/ && enabled !~ /^no$/ && uris != "" && wanted(suites) && !found) {
				split(uris, u, " "); found = u[1] " " (key ~ /^\// ? key : "-")
			}
			types = enabled = uris = suites = key = field = ""
		}
		function wanted(list,    n, i, s) {
			n = split(list, s, " ")
			for (i = 1; i <= n; i++)
				if (s[i] == code || s[i] ~ /^(stable|testing|unstable|sid)$/) return 1
			return 0
		}
		FNR == 1 { finish() }
		FILENAME ~ /\.sources$/ {
			if ($0 ~ /^[ \t]*#/) next
			if ($0 ~ /^[ \t]*$/) { finish(); next }
			if ($0 ~ /^[^ \t]/) { field = tolower($0); sub(/:.*/, "", field); value = $0; sub(/^[^:]*:[ \t]*/, "", value) }
			else { value = $0; sub(/^[ \t]+/, " ", value) }
			if (field == "types") types = types value
			else if (field == "enabled") enabled = tolower(enabled value)
			else if (field == "uris") uris = uris value
			else if (field == "suites") suites = suites value
			else if (field == "signed-by") key = key value
			next
		}
		/^[ \t]*deb[ \t]/ && !found {
			k = "-"
			line = $0; sub(/#.*/, "", line); sub(/^[ \t]*deb[ \t]+/, "", line)
			if (line ~ /^\[/) {
				opts = line; sub(/\].*/, "", opts); sub(/^[^\]]*\][ \t]*/, "", line)
				if (match(opts, /signed-by=[^ \]]+/)) k = substr(opts, RSTART + 10, RLENGTH - 10)
			}
			split(line, w, /[ \t]+/)
			if (wanted(w[2])) found = w[1] " " k
		}
		END { finish(); if (found) print found }
	' $files /dev/null)
	uri=${1:-} keyring=${2:--}
	case $uri in
	mirror+file:*)
		# cloud images name a file with the mirrors, best first
		uri=$(awk '!/^[ \t]*#/ && NF { print $1; exit }' "${uri#mirror+file:}")
		;;
	esac
	case $uri in
	http:* | https:* | file:*) printf '%s %s\n' "${uri%/}" "$keyring" ;;
	*) return 1 ;;
	esac
}
