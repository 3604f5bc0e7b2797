#!/usr/bin/env bash
# Runs karmada-lens, the first argument, as a pull-request check does: exit codes, streams, files.
set -uo pipefail
program=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

# expect CODE WHAT ARGUMENT...: the program's exit code; its output goes to $directory/{out,err}.
expect() {
  local wanted=$1 what=$2 code=0
  shift 2
  "$program" "$@" > "$directory/out" 2> "$directory/err" < "$directory/in" || code=$?
  [[ $code == "$wanted" ]] && return
  echo "FAIL: $what: exit code $code, expected $wanted"
  cat "$directory/out" "$directory/err"
  failures=$((failures + 1))
}
# contains FILE TEXT: of the last run.
contains() {
  grep -qF -- "$2" "$directory/$1" && return
  echo "FAIL: '$2' is not in the $1 of the last run"
  cat "$directory/$1"
  failures=$((failures + 1))
}
is_empty() {
  [[ ! -s $directory/$1 ]] && return
  echo "FAIL: $1 of the last run is not empty"
  cat "$directory/$1"
  failures=$((failures + 1))
}

demo=config/samples/demo
: > "$directory/in"
expect 2 "everything is new" plan -f $demo
contains out "3 to create, 0 to change, 0 to delete, 0 unchanged"
is_empty err
expect 0 "nothing differs" plan -f $demo --base $demo
is_empty err

mkdir "$directory/new"
sed 's/replicas: 6/replicas: 12/' $demo/deployment.yaml > "$directory/new/deployment.yaml"
cp $demo/propagationpolicy.yaml "$directory/new/"
expect 2 "a branch changes something" plan -f "$directory/new" --base $demo
contains out "~ member1: change, 3 -> 6 replicas"
contains out "0 to create, 3 to change, 0 to delete, 0 unchanged"
expect 2 "for programs" plan -f "$directory/new" --base $demo -o json
contains out '"change": 3'

{ cat "$directory/new/deployment.yaml"; echo ---; cat "$directory/new/propagationpolicy.yaml"; } > "$directory/in"
expect 2 "standard input" plan -f - --clusters 1
contains err "standard input:"
contains err "there is no cluster member2"
: > "$directory/in"

printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Bad_Name\n' > "$directory/bad.yaml"
expect 1 "an object that would be refused" plan -f "$directory/bad.yaml"
contains err "error: $directory/bad.yaml:"
is_empty out
expect 1 "a file that does not exist" plan -f "$directory/none"
expect 1 "an unknown flag" plan --what

expect 0 "a graph" graph -f $demo
contains out "Deployment demo/nginx  -> member1 (3 replicas), member2 (2 replicas), member3 (1 replica)"
expect 0 "a picture" graph -f $demo -o svg
contains out "</svg>"
expect 1 "an object that is not there" graph -f $demo deployment/none

[[ $failures == 0 ]] && echo "all fine"
exit $((failures > 0))
