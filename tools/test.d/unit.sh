# shellcheck shell=bash disable=SC2154
# test/unit/*_test.c: plain C without a server.

run_unit() { # GLOB
	local names name file files=() absent=0 counts=$work/unit.counts
	names=$(pick "$top/test/unit" _test.c "$1")
	[ -n "$names" ] || return 0
	begin unit "$(wc -w <<<"$names") programs"
	perl_has TAP::Harness || return 0
	# -s, because what the compiler says is of interest and the command lines are not
	if ! watch "$work/unit-build.log" "$top" make -s -C "$top" unit BUILD="$work/unit"; then
		give_up "the programs could not be built (see above)"
		return
	fi
	for name in $names; do
		file=$(find "$work/unit" -type f -name "${name}_test" | head -n 1)
		if [ -n "$file" ]; then
			files+=("$file")
		else
			echo "unit: 'make unit' built no ${name}_test below \$(BUILD)"
			absent=$((absent + 1))
		fi
	done
	[ ${#files[@]} -gt 0 ] || { finish 0 "$absent" 0; return; }
	watch "$work/unit.log" "$top" "${harness[@]}" "$counts" "${TEST_JOBS:-5}" - "${files[@]}" || true
	# Only then: a harness that ended early has left no counts, and must not seem to have any.
	[ "$absent" -eq 0 ] || printf '0\t%d\t0\t-\n' "$absent" >>"$counts"
	finish_tap "$counts" "$work/unit.log"
}
