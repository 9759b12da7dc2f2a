# shellcheck shell=bash
# The one command that a script waits for: with a time limit, its output shown and kept, and
# ended when a signal ends the script. It is sourced and never run.
#
# The command runs in the background, because bash runs a trap only between foreground
# commands.

child=''        # its process id while it runs
child_tee=''    # that of what shows and keeps its output
timed_out=no    # whether the last run_limited was over its time

# run_limited LOG SECONDS GRACE COMMAND...: runs it for at most so many seconds, and shows
# its output and keeps it in LOG. What does not end then is killed GRACE seconds later.
# Returns the command's exit code. drain comes next.
run_limited() {
	local log=$1 limit=$2 grace=$3 rc=0
	shift 3
	exec 8> >(exec tee "$log")
	child_tee=$!
	(
		trap - EXIT INT TERM HUP
		# bash has background commands ignore SIGINT, and Python then never sees a Ctrl-C
		exec env --default-signal=INT,QUIT timeout -k "$grace" "$limit" "$@"
	) >&8 2>&1 </dev/null &
	child=$!
	exec 8>&-
	wait "$child" || rc=$?
	child=''
	timed_out=no
	case $rc in 124 | 137) timed_out=yes ;; esac
	return "$rc"
}

# drain SECONDS: waits until the whole output is in the log. That is when the last holder of
# the pipe ends, which may be a forgotten server. So it is not waited for longer than that.
drain() {
	local i
	for i in $(seq $(($1 * 10))); do
		kill -0 "$child_tee" 2>/dev/null || break
		sleep 0.1
	done
	child_tee=''
}

# end_child [inside]: ends the command if it runs, and waits for it. It must pass the signal
# on to what it has started, as timeout does. unshare does not: "inside" signals the
# processes that the command has started, and not itself.
end_child() {
	local pids=$child pid
	[ -n "$child" ] && kill -0 "$child" 2>/dev/null || return 0
	[ "${1:-}" != inside ] || pids=$(cat "/proc/$child/task/$child/children" 2>/dev/null || true)
	for pid in $pids; do kill -TERM "$pid" 2>/dev/null || true; done
	wait "$child" 2>/dev/null || true
	child=''
}
