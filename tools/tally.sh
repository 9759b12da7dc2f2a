# shellcheck shell=bash
# How many tests passed and failed, and what is to be named again at the end. It is sourced
# and never run.

passed=0 failed=0 skipped=0 blamed=()

# count PASSED FAILED SKIPPED: adds them up
count() { passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3)); }

# blame PREFIX: keeps the lines on stdin for the end, each behind the prefix
blame() {
	local line
	while IFS= read -r line; do
		line="$1: $line"
		blamed+=("${line:0:300}")
	done
}

# sum_in LOG: prints the last sum that a log holds as "PASSED FAILED SKIPPED", or nothing
sum_in() {
	grep -aEx '[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?' "$1" | tail -n 1 | awk '{ print $1, $3, $5 + 0 }'
}

# print_sum: prints the last line of a run. Fails when something failed or nothing ran.
print_sum() {
	printf '%d passed, %d failed' "$passed" "$failed"
	[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
	printf '\n'
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
