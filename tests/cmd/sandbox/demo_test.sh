#!/usr/bin/env bash
# Runs the demo of the program given as the first argument and compares what it prints with README.md, which shows it.
# Only the times may differ.
set -euo pipefail
program=$1

without_times() { sed -E 's/ +[0-9]+\.[0-9] s$//'; }

printed=$("$program" demo --deadline 5m < /dev/null | without_times)
shown=$(awk '/^```console$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' README.md | without_times)
if [[ $printed != "$shown" ]]; then
  echo "README.md shows (<) something else than the demo prints (>); paste its output:"
  diff <(echo "$shown") <(echo "$printed")
  exit 1
fi
