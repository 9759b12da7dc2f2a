# shellcheck shell=bash disable=SC2034,SC2154
# Chroots with a Debian release, made once by mmdebstrap and kept in the cache until what they
# are made of changes. It is sourced and never run. What sources it has a function not_run
# REASON, which ends it where this machine cannot have the chroot.

# chroot_of NAME WHAT SUITES PACKAGES [SETUP_HOOK [CUSTOMIZE_HOOK [OPTION...]]]: makes it, or takes
# the one in the cache, and sets $chroot to its path. WHAT is for messages. SUITES are separated by
# spaces, PACKAGES by commas. The hooks are shell scripts for mmdebstrap, which runs them on the
# host with the chroot's directory as $1, and NN in them is NAME. OPTIONS are mmdebstrap's. $made
# says how long it took, or is empty.
chroot_of() {
	local name=$1 what=$2 suites packages=$4 setup=${5:-} customize=${6:-} recipe mirror keyring
	local work log old suite line start source_options='' options=() sources=()
	read -ra suites <<<"$3"
	shift $(($# < 6 ? $# : 6))
	recipe=$(printf '%s\n' 1 "${suites[*]}" "$packages" "$setup" "$customize" | sha256sum | cut -d ' ' -f 1)
	chroot=$cache/chroot-$name made=
	! chroot_is_made_of "$recipe" || return 0

	mirror=$(debian_mirror) ||
		not_run "this system is not Debian, or none of its package sources has a Debian release: the chroot is made from them"
	keyring=${mirror#* }
	mirror=${mirror%% *}
	need_root ${arguments[@]+"${arguments[@]}"}

	# Only one builder works at a time. Whoever has waited finds the other's chroot.
	mkdir -p "$cache"
	exec 9>"$chroot.lock"
	flock 9
	! chroot_is_made_of "$recipe" || return 0

	command -v mmdebstrap >/dev/null 2>&1 || {
		say "installing mmdebstrap: it makes the chroots"
		apt_install mmdebstrap >&2
	}
	work=$chroot.new.$$
	log=$chroot.log
	chroot_work=$work
	on_exit 'remove_tree "$chroot_work"; rm -rf "$chroot_work".hooks'
	for old in "$chroot".new.*; do remove_tree "$old"; done
	mkdir -p "$work.hooks"
	printf '%s' "${setup//NN/$name}" >"$work.hooks/setup"
	printf '%s' "${customize//NN/$name}" >"$work.hooks/customize"

	# testing, unstable and experimental are rebuilt all the time. A mirror that lags serves a
	# Release file whose Valid-Until has passed.
	case ${suites[0]} in forky | sid) source_options=check-valid-until=no ;; esac
	[ "$keyring" = - ] || source_options="$source_options signed-by=$keyring"
	for suite in "${suites[@]}"; do
		sources+=("deb ${source_options:+[ $source_options ] }$mirror $suite main")
	done
	# mmdebstrap ignores the host's apt settings. These say how the mirror is to be reached.
	while IFS= read -r line; do
		[ -z "$line" ] || options+=(--aptopt="$line")
	done <<-END
		$(apt-config dump 2>/dev/null | grep -iE '^Acquire::(https?::(Proxy|CaInfo|Timeout)|Check-(Valid-Until|Date)|Retries|ForceIPv4) ' || true)
	END

	say "making a chroot with $what (${suites[*]}), a minute or more; log: $log"
	start=$SECONDS
	if ! mmdebstrap --variant=minbase --mode=root --components=main \
		${options[@]+"${options[@]}"} \
		--aptopt='Acquire::Retries "3"' \
		--aptopt='APT::Install-Recommends "false"' \
		"$@" \
		--include="$packages" \
		--setup-hook="sh $work.hooks/setup \"\$1\"" \
		--customize-hook="sh $work.hooks/customize \"\$1\"" \
		"${suites[0]}" "$work" "${sources[@]}" </dev/null >"$log" 2>&1; then
		tail -n 30 "$log" >&2
		not_run "the chroot could not be made from the system's package mirror: $(grep -E '^(E:|Err|W: Failed)' "$log" | head -n 1 || true) (log: $log)"
	fi
	printf '%s\n' "$recipe" >"$work/.pg_sweep-recipe"
	remove_tree "$chroot"
	mv "$work" "$chroot"
	made="made in $((SECONDS - start)) s"
}

chroot_is_made_of() { [ "$(cat "$chroot/.pg_sweep-recipe" 2>/dev/null || true)" = "$1" ]; }

# Never remove a tree that something is still mounted in: the removal would go through.
remove_tree() {
	[ -e "$1" ] || return 0
	if grep -qF " $(cd "$1" && pwd -P)/" /proc/self/mounts; then
		die "something is mounted below $1: unmount it, then run this again"
	fi
	rm -rf --one-file-system "$1"
}
