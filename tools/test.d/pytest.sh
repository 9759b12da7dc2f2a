# shellcheck shell=bash disable=SC2154
# cli/tests.

# programs_of_prometheus NAMES: if test_monitoring is among them, its copy of Prometheus, which
# the user of the servers can run. That test is skipped where there is none.
programs_of_prometheus() {
	local from
	case " $(tr '\n' ' ' <<<"$1") " in *' test_monitoring '*) ;; *) return 0 ;; esac
	from=$("$top/tools/prometheus") || return 0
	mkdir "$work/prometheus"
	cp "$from"/* "$work/prometheus"
}

run_pytest() {
	local names files=() name venv usable rc=0 line xml=$work/pytest/junit.xml
	names=$(pick "$top/cli/tests" .py "$1" | grep '^test_' || true)
	[ -n "$names" ] || return 0
	begin pytest "$(wc -w <<<"$names") files"
	for name in $names; do files+=("tests/$name.py"); done
	venv=$("$top/tools/venv" dev) || {
		finish 0 1 0
		return
	}
	usable=yes
	# A home directory may be closed to the user of the servers.
	if is_root && ! "${runner_env[@]}" "$venv/bin/python" -c 'import pytest' >/dev/null 2>&1; then usable=no; fi
	if [ "$usable" = no ]; then
		say "$runner cannot use $venv: making another environment"
		venv=$(PG_SWEEP_VENV="$work/venv" "$work/src/tools/venv" dev) &&
			"${runner_env[@]}" "$venv/bin/python" -c 'import pytest' || {
			give_up "the user $runner cannot run $venv/bin/python: install python3-venv, so that the system's Python is used"
			return
		}
	fi
	mkdir -p "$work/pytest"
	programs_of_prometheus "$names"
	give_to_runner "$work/pytest"
	# The copy comes before what the environment has installed, which is a link to the checkout.
	# Bytecode may be written into it: a hundred commands are started, and each would compile it.
	watch "$work/pytest.log" "$work/src/cli" "${runner_env[@]}" \
		PATH="$venv/bin:$bindir:$PATH" PG_SWEEP_PROMETHEUS="$work/prometheus" PYTHONPATH="$work/src/cli:$work/src/cli/src" PYTHONDONTWRITEBYTECODE= \
		"$venv/bin/python" -m pytest -q --tb=short -p no:cacheprovider --color=no \
		-n "${TEST_JOBS:-5}" --dist worksteal --basetemp="$work/tmp/py" --junitxml="$xml" "${files[@]}" || rc=$?
	line=$("$venv/bin/python" - "$xml" <<-'END' || true
		import sys, xml.etree.ElementTree as tree
		t = f = s = 0
		for suite in tree.parse(sys.argv[1]).getroot().iter("testsuite"):
		    t += int(suite.get("tests", 0))
		    f += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
		    s += int(suite.get("skipped", 0))
		print(max(t - f - s, 0), f, s)
	END
	)
	# shellcheck disable=SC2086
	set -- ${line:-0 0 0}
	if [ "$rc" -ne 0 ] && [ "$2" -eq 0 ]; then set -- "$1" 1 "$3"; fi
	blame_suite < <(grep -E '^(FAILED|ERROR) ' "$work/pytest.log")
	finish "$1" "$2" "$3"
}
