# shellcheck shell=bash disable=SC2034,SC2154
# A suite: its heading, the choice of its files, its commands, its counts.

suite='' suite_start=0 summary=()

# begin NAME WHAT
begin() {
	suite=$1 suite_start=$SECONDS
	printf '\n== %s: %s\n' "$suite" "$2"
}

# finish PASSED FAILED SKIPPED
finish() {
	local took=$((SECONDS - suite_start))
	count "$1" "$2" "$3"
	summary+=("$(printf '%-11s %5d passed %4d failed %4d skipped %5d s' "$suite" "$1" "$2" "$3" "$took")")
	printf '== %s: %d passed, %d failed, %d skipped (%d s)\n' "$suite" "$1" "$2" "$3" "$took"
}

# blame_suite: keeps the lines on stdin, the names of what failed, for the end
blame_suite() { blame "failed: $suite"; }

# give_up REASON: the suite cannot run here, which counts as one failure
give_up() {
	printf '%s: %s\n' "$suite" "$1"
	blame_suite <<<"$1"
	finish 0 1 0
}

# watch LOG DIR COMMAND...: runs it there for at most TEST_TIMEOUT seconds, and shows and
# keeps its output
watch() {
	local log=$1 dir=$2 rc=0
	shift 2
	run_limited "$log" "${TEST_TIMEOUT:-1500}" 20 env -C "$dir" "$@" || rc=$?
	[ "$timed_out" = no ] || printf '%s: ended after %s s (TEST_TIMEOUT)\n' "$suite" "${TEST_TIMEOUT:-1500}"
	# a server that is left holds the pipe of the output
	stop_servers_below "$work"
	drain 5
	return "$rc"
}

# pick DIR SUFFIX GLOB: the names, without suffix, that are there and match
pick() {
	local file name
	for file in "$1"/*"$2"; do
		[ -f "$file" ] || continue
		name=$(basename "$file" "$2")
		# shellcheck disable=SC2254
		case $name in $3) printf '%s\n' "$name" ;; esac
	done
}

# installed: ends everything if this server does not have the extension
installed() {
	local control
	control=$(basename "$(ls "$top"/*.control | head -n 1)")
	[ -f "$("$PG_CONFIG" --sharedir)/extension/$control" ] ||
		die "${control%.control} is not installed in $("$PG_CONFIG" --version) ($bindir): run 'make install' first"
}
