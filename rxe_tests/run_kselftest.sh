#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs installed tests, as run_kselftest.sh of the kernel does. Each one's output comes as a comment before its result.
usage()
{
	cat <<END
usage: $0 [-l] [-d] [-t COLLECTION:TEST]... [-c COLLECTION]... [-S COLLECTION:TEST]... [-o SECONDS]

  -l, --list      list the tests
  -t, --test      run this test
  -c, --collection  run the tests of this collection
  -S, --skip      run all but this test
  -d, --dry-run   print what would be run
  -o, --override-timeout  seconds for each test (its collection's settings)
END
	exit "$1"
}

cd "$(dirname "$0")" || exit
folder=$PWD
chosen='' skipped='' seconds='' run=run_one
while [ $# -gt 0 ]; do
	case $1 in
	-l|--list) cat kselftest-list.txt; exit ;;
	-t|--test) chosen="$chosen $(grep -x -e "$2" kselftest-list.txt)" || { echo "no test '$2'" >&2; exit 1; }; shift ;;
	-c|--collection) chosen="$chosen $(grep -e "^$2:" kselftest-list.txt)" || { echo "no collection '$2'" >&2; exit 1; }; shift ;;
	-S|--skip) skipped="$skipped $2"; shift ;;
	-o|--override-timeout) seconds=$2; shift ;;
	-d|--dry-run) run='echo' ;;
	-h|--help) usage 0 ;;
	*) usage 1 >&2 ;;
	esac
	shift
done

run_one()
{
	collection=${1%%:*} test=${1#*:} name="selftests: ${1%%:*}: ${1#*:}"
	limit=${seconds:-$(sed -n 's/^timeout=//p' "$collection/settings")}
	echo "# $name"
	rc=$( { {
		cd "$folder/$collection" && timeout --foreground "${limit:-45}" "./$test" 2>&1
		echo $? >&3
	} | sed -u 's/^/# /' >&4; } 3>&1)
	case $rc in
	0) echo "ok $number $name" ;;
	4) echo "ok $number $name # SKIP" ;;
	124) echo "not ok $number $name # TIMEOUT $limit seconds"; failed=1 ;;
	*) echo "not ok $number $name # exit=$rc"; failed=1 ;;
	esac
}

tests=
for each in ${chosen:-$(cat kselftest-list.txt)}; do
	case " $skipped " in
	*" $each "*) ;;
	*) tests="$tests $each" ;;
	esac
done
exec 4>&1
set -- $tests
number=0 failed=0
echo TAP version 13
echo "1..$#"
for each; do
	number=$((number + 1))
	$run "$each"
done
exit $failed
