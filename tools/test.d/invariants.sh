# shellcheck shell=bash disable=SC2154
# tools/check-invariants.

run_invariants() {
	local counts=$work/invariants.counts
	[ -x "$top/tools/check-invariants" ] || return 0
	begin invariants "what ARCHITECTURE.md promises"
	perl_has TAP::Harness Test::More || return 0
	watch "$work/invariants.log" "$top" "${harness[@]}" "$counts" 1 '' "$top/tools/check-invariants" || true
	finish_tap "$counts" "$work/invariants.log"
}
