# What the tests of programs share, to be sourced: `. program_checks.sh`. The input of each command is $directory/in,
# its output goes to $directory/{out,err}; $failures counts what was wrong.
set -uo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0
: > "$directory/in"

# expect CODE WHAT COMMAND...: the command's exit code.
expect() {
  local wanted=$1 what=$2 code=0
  shift 2
  "$@" > "$directory/out" 2> "$directory/err" < "$directory/in" || code=$?
  [[ $code == "$wanted" ]] && return
  echo "FAIL: $what: exit code $code, expected $wanted"
  cat "$directory/out" "$directory/err"
  failures=$((failures + 1))
}
# contains FILE TEXT: of the last command.
contains() {
  grep -qF -- "$2" "$directory/$1" && return
  echo "FAIL: '$2' is not in the $1 of the last command"
  cat "$directory/$1"
  failures=$((failures + 1))
}
is_empty() {
  [[ ! -s $directory/$1 ]] && return
  echo "FAIL: $1 of the last command is not empty"
  cat "$directory/$1"
  failures=$((failures + 1))
}
