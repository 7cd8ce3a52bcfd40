#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command apexshim: every variable has an option, values are checked, and a program that is run
# is itself: arguments, input, output, exit status and signals.
set -eu
srcdir=${srcdir:-.}
apexshim=$(pwd)/tools/apexshim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
for name in $(env | sed -n 's/^\(APEXSHIM[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
unset LD_PRELOAD
ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 # the programs here have no sanitizer in them
export ASAN_OPTIONS

wrong()
{
    echo "$*"
    cat "$work/out" "$work/err"
    failures=$((failures + 1))
}

# expect STATUS WHAT ARGUMENT...: output to $work/out and $work/err.
expect()
{
    wanted=$1 what=$2
    shift 2
    status=0
    "$apexshim" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq "$wanted" ] || wrong "$what: exit status $status, expected $wanted"
}

shows()
{
    grep -q -e "$2" "$work/$1" || wrong "$what: no '$2' in what it printed"
}

# The program's own status, signals, arguments and streams.
expect 0 "success" run true
expect 1 "failure" run false
expect 77 "another status" run sh -c 'exit 77'
expect 143 "killed by SIGTERM" run sh -c 'kill -TERM $$'
expect 134 "killed by SIGABRT" run sh -c 'ulimit -c 0; kill -ABRT $$'
expect 0 "arguments" run -- printf '%s,' --log a 'b c' -- ''
[ "$(cat "$work/out")" = "--log,a,b c,--,," ] || wrong "arguments: not those that were given"
printf 'in\n' | "$apexshim" run sh -c 'cat; echo err >&2' >"$work/out" 2>"$work/err"
[ "$(cat "$work/out")" = in ] || wrong "streams: input or output is changed"
[ "$(cat "$work/err")" = err ] || wrong "streams: errors are changed"

# What keeps a program from starting.
expect 127 "no such program" run "$work/none"
shows err 'No such file'
: >"$work/plain"
expect 126 "not executable" run "$work/plain"
shows err 'Permission denied'
expect 2 "no program" run
expect 2 "no program after --" run --log quiet --
expect 2 "no command"
expect 2 "an unknown command" frobnicate
expect 2 "an unknown option" run --presicion fp16 true
shows err 'unknown option.*--presicion'
expect 2 "no value" run --log
expect 2 "a bad value" run --opt-level=O7 true
shows err 'did you mean O'
expect 2 "a value that is too long" run --exclude "$(printf '%600s' x)" true
expect 0 "--help" --help
expect 0 "--version" --version
shows out '^libapexshim [0-9]'

# The preload comes first; what was there stays.
# shellcheck disable=SC2016 # for the program
expect 0 "the preload" run sh -c 'echo "$LD_PRELOAD"'
shows out '^/.*/libapexshim.so$'
# shellcheck disable=SC2016 # for the program
LD_PRELOAD=libm.so.6 "$apexshim" run sh -c 'echo "$LD_PRELOAD"' >"$work/out" 2>"$work/err"
what="another preload"
shows out '^/.*/libapexshim.so:libm.so.6$'
expect 0 "the preload is loaded" run sh -c 'grep -q libapexshim.so /proc/$$/maps'

# Each variable: its option, in both forms, with each of its values; and a line of apexshim env.
values()
{
    case $1 in
    '') echo 'some*text,more' ;;
    *'<'*) echo "$1" | sed -e 's/<tolerance>/1e-3/' -e 's/<power of two>/4/' -e 's/<number>/8/' \
        -e 's/<MiB>/64/' -e 's/<percent>%/5%/' | tr '|' '\n' ;;
    *) echo "$1" | tr '|' '\n' ;;
    esac
}
"$apexshim" env >"$work/env"
python3 - "$srcdir/src/env.def" >"$work/table" <<'END'
import re, sys
for kind, name, values in re.findall(r'^ENV(_TEXT|_FORM)?\((APEXSHIM\w*),\s*\w+,\s*"([^"]*)"',
                                     open(sys.argv[1]).read(), re.M):
    print(name, "" if kind == "_TEXT" else values)
END
n=0
while read -r name choices; do
    option=$(echo "$name" | sed -e 's/^APEXSHIM$/APEXSHIM_SHIM/' -e 's/^APEXSHIM_//' |
        tr 'A-Z_' 'a-z-')
    values "$choices" >"$work/values"
    while IFS= read -r value; do
        expect 0 "$name=$value" run "--$option" "$value" sh -c "printf '%s\n' \"\$$name\""
        [ "$(cat "$work/out")" = "$value" ] || wrong "--$option $value: $name is another"
        expect 0 "$name=$value" run "--$option=$value" sh -c "printf '%s\n' \"\$$name\""
        [ "$(cat "$work/out")" = "$value" ] || wrong "--$option=$value: $name is another"
        n=$((n + 1))
    done <"$work/values"
    grep -q "^$name=.*(default)$" "$work/env" || wrong "apexshim env does not show the default of $name"
    env "$name=changed" "$apexshim" env >"$work/out" 2>"$work/err" || wrong "env with $name"
    what="apexshim env, $name is set"
    shows out "^$name=changed$"
    "$apexshim" --help | grep -q -e "^  --$option " || wrong "--help does not show --$option"
done <"$work/table"
listed=$(grep -cE '^ENV(_TEXT|_FORM)?\(APEXSHIM' "$srcdir/src/env.def")
[ "$(grep -c . "$work/table")" -eq "$listed" ] ||
    wrong "this test has read $(grep -c . "$work/table") of $listed variables"
echo "$listed variables, $n values"
[ "$failures" -eq 0 ]
