# shellcheck shell=sh
# What the steps of tools/test-packages share. It is sourced and never run.

# check NAME COMMAND...: one test
check() {
	what=$1
	shift
	if "$@" >/tmp/check.log 2>&1 </dev/null; then
		printf 'ok - %s\n' "$what"
	else
		printf 'not ok - %s (exit %d)\n' "$what" $?
		tail -n 40 /tmp/check.log
	fi
}
