# shellcheck shell=bash disable=SC2034,SC2154
# The harness of the suites whose programs print TAP.

# The copy in the work directory, because the checkout may be closed to the user of the servers.
harness=(perl "$work/src/tools/test.d/tap-harness.pl")

# perl_has MODULE...: else says what to do, and the suite is over
perl_has() {
	local module
	for module; do
		"${runner_env[@]}" perl "-M$module" -e 1 >/dev/null 2>&1 && continue
		give_up "Perl's $module is missing: run 'tools/setup test' first"
		return 1
	done
}

# finish_tap COUNTS LOG: adds up what the harness wrote, and names what failed by what the
# programs wrote to stderr
finish_tap() {
	local p=0 f=0 s=0 a b c file
	if [ -s "$1" ]; then
		while IFS=$'\t' read -r a b c file; do
			p=$((p + a)) f=$((f + b)) s=$((s + c))
			[ "$b" -eq 0 ] || blame_suite <<<"${file#"$work"/}: $b"
		done <"$1"
	fi
	blame_suite < <(awk '/^# +Failed test/ { n = 6 } /^# +poll_query_until timed out/ { n = 12 }
		n > 0 && sub(/^# +/, "") { print } { n-- }' "$2" | head -n 40)
	if [ ! -s "$1" ] || { [ "$timed_out" = yes ] && [ "$f" -eq 0 ]; }; then f=$((f + 1)); fi
	finish "$p" "$f" "$s"
}
