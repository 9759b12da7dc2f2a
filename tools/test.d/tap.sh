# shellcheck shell=bash disable=SC2154
# test/t/*.pl, by PostgreSQL::Test.

# those that take a minute or more
long='^(006|015|018|025|026|027|028|042|064|065)_'

run_tap() {
	local names name files=() counts=$work/tap.counts dir=$work/src/test out=$work/tap a b file log
	names=$(pick "$top/test/t" .pl "$1")
	[ -n "$names" ] || return 0
	installed
	begin tap "$(wc -w <<<"$names") files"
	[ -f "$pgxs/test/perl/PostgreSQL/Test/Cluster.pm" ] || {
		give_up "$pgxs/test/perl has no PostgreSQL::Test: this server was built without --enable-tap-tests"
		return
	}
	perl_has TAP::Harness Test::More IPC::Run || return 0
	# this plays another extension: it is loaded from where it is built, and installed nowhere
	if ! watch "$work/engine-build.log" "$dir/engine" "${runner_env[@]}" make -s PG_CONFIG="$PG_CONFIG" COPT="${COPT-}"; then
		give_up "test/engine could not be built (see above)"
		return
	fi
	# The longest ones come first, so that none is alone at the end. The rest goes backwards,
	# because those with low numbers are short.
	for name in $(grep -E "$long" <<<"$names") $(tac <<<"$names" | grep -vE "$long"); do files+=("t/$name.pl"); done
	mkdir -p "$out/tmp_check/log"
	: >"$counts"
	give_to_runner "$out" "$counts"
	# The harness removes what is large, and the end of all the rest.
	# TESTDIR is read by 15, the other two from 16 on.
	watch "$work/tap.log" "$dir" "${runner_env[@]}" \
		TESTDIR="$out" KEEP="${KEEP:-}" TESTDATADIR="$out/tmp_check" TESTLOGDIR="$out/tmp_check/log" \
		PG_SWEEP_OTHER_ENGINE="$dir/engine/other_engine.so" PG_REGRESS="$pgxs/test/regress/pg_regress" PGPORT=65432 PG_TEST_NOCLEAN=1 \
		PERL5LIB="$pgxs/test/perl:$dir/t:$dir/perl${PERL5LIB:+:$PERL5LIB}" \
		"${harness[@]}" "$counts" "${TEST_JOBS:-7}" '' "${files[@]}" || true
	while IFS=$'\t' read -r a b _ file; do
		[ "$b" -gt 0 ] || continue
		name=$(basename "$file" .pl)
		show 100 "$out/tmp_check/log/regress_log_$name"
		for log in "$out/tmp_check/log/$name"_*.log; do
			show 50 "$log"
			show_crashes "$log"
		done
	done <"$counts"
	if [ "$timed_out" = yes ] && [ ! -s "$counts" ]; then
		for log in "$out"/tmp_check/log/regress_log_*; do show 30 "$log"; done
	fi
	finish_tap "$counts" "$work/tap.log"
}
