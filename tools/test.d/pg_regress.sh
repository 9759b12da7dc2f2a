# shellcheck shell=bash disable=SC2154
# test/sql and test/specs.

# pg_regress and pg_isolation_regress are the same program with another way to run a
# file. Both start a temporary server with test/sweep.conf (shared_preload_libraries).
run_pg_regress() { # SUITE PROGRAM SUFFIX INPUT EXPECTED GLOB
	local name=$1 program=$2 suffix=$3 input=$4 expected=$5 names dir=$work/$1 log=$work/$1.log
	local p=0 f=0 line rc=0 options=()
	names=$(pick "$top/test/$input" "$suffix" "$6")
	[ -n "$names" ] || return 0
	installed
	begin "$name" "$(wc -w <<<"$names") files"
	[ -x "$program" ] || {
		give_up "$program is missing: install this server's development files"
		return
	}
	# Every major looks for these below the current directory. Only the options to have
	# them elsewhere differ.
	mkdir "$dir"
	cp -R "$work/src/test/$input" "$dir/$input"
	mkdir -p "$dir/expected"
	if [ -d "$work/src/test/$expected" ]; then cp -R "$work/src/test/$expected/." "$dir/expected/"; fi
	if [ -d "$work/src/test/data" ]; then cp -R "$work/src/test/data" "$dir/data"; fi
	give_to_runner "$dir"
	if [ -f "$work/src/test/sweep.conf" ]; then options+=(--temp-config="$work/src/test/sweep.conf"); fi
	# shellcheck disable=SC2086
	watch "$log" "$dir" "${runner_env[@]}" "$program" \
		--temp-instance="$dir/instance" --bindir="$bindir" --no-locale --encoding=UTF8 \
		${options[@]+"${options[@]}"} $names || rc=$?

	# "All 3 tests passed." and "1 of 3 tests failed.", with a leading "#" from 16 on
	if line=$(grep -Eo 'All [0-9]+ tests? passed' "$log"); then
		p=$(tr -dc 0-9 <<<"$line")
	elif line=$(grep -Eo '[0-9]+ of [0-9]+ tests? failed' "$log"); then
		f=${line%% *}
		line=${line#* of }
		p=$((${line%% *} - f))
	fi
	if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
		[ -f "$dir/log/postmaster.log" ] || show 40 "$dir/log/initdb.log"
		show 80 "$dir/log/postmaster.log"
	fi
	if [ -s "$dir/regression.diffs" ]; then
		printf -- '---- %s differs from what is expected (first 150 lines)\n' "$name"
		head -n 150 "$dir/regression.diffs" | cut -c 1-400
		# a crash shows in the diff as a lost connection only
		show_crashes "$dir/log/postmaster.log"
	fi
	# "not ok 3 - name" from 16 on, "test name ... FAILED" before
	blame_suite < <(grep -E '^not ok |\.\.\. FAILED' "$log")
	finish "$p" "$f" 0
}

run_regress() { run_pg_regress regress "$pgxs/test/regress/pg_regress" .sql sql expected "$1"; }

run_isolation() {
	run_pg_regress isolation "$pgxs/test/isolation/pg_isolation_regress" .spec specs expected-isolation "$1"
}
