# shellcheck shell=bash disable=SC2034,SC2154
# The user of the servers. Servers refuse to run as root: root runs them as the user
# postgres (or nobody).

runner=''       # its name
runner_env=()   # put before a command, it runs as that user and in that user's environment

# choose_runner: needs $work and $bindir
choose_runner() {
	local as_runner=()
	runner=$(id -un 2>/dev/null || id -u)
	if is_root; then
		runner=nobody
		if getent passwd postgres >/dev/null; then runner=postgres; fi
		as_runner=(setpriv --reuid="$runner" --regid="$(id -g "$runner")" --init-groups --inh-caps=-all)
		command -v setpriv >/dev/null 2>&1 || die "setpriv (util-linux) is missing: it starts the servers as $runner"
	fi
	runner_env=(${as_runner[@]+"${as_runner[@]}"} env HOME="$work/home" USER="$runner" LOGNAME="$runner"
		TMPDIR="$work/tmp" PATH="$bindir:$PATH")
}

# give_to_runner PATH...
give_to_runner() {
	if is_root; then chown -R "$runner:" "$@"; fi
}
