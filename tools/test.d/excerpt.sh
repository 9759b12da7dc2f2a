# shellcheck shell=bash disable=SC2154
# Excerpts of logs, for the output of a suite that failed.

# show LINES FILE: the end of a file, with a heading
show() {
	[ -s "$2" ] || return 0
	printf -- '---- %s (last %s lines at most)\n' "${2#"$work"/}" "$1"
	tail -n "$1" "$2" | cut -c 1-400
}

# show_crashes LOG: what a server's log says of a failed assertion or a crash, with the
# stack that the sanitizers print
show_crashes() {
	local found
	found=$(grep -E -A 30 'PANIC|TRAP: |terminated by signal|ERROR: AddressSanitizer|runtime error: ' "$1" 2>/dev/null |
		grep -vE '^--$' | head -n 100 | cut -c 1-400 || true)
	[ -z "$found" ] || printf -- '---- %s\n%s\n' "${1#"$work"/}" "$found"
}
