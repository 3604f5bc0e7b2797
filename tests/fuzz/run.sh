#!/usr/bin/env bash
# Fuzzes each target for so many seconds:  run.sh FOLDER_OF_TARGETS SECONDS
#
# What a target finds on its way grows in build/fuzz/corpus; an input that breaks something is kept in
# build/fuzz/crashes and named. Put it into tests/fuzz/corpus/<target> with the fix.
set -euo pipefail
bin=$1 seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(dirname "$bin")
mkdir -p "$work/crashes"

broken=0
for target in "$bin"/*_fuzz; do
  name=$(basename "$target" _fuzz)
  mkdir -p "$work/corpus/$name"
  echo "== fuzz $name, $seconds s"
  if "$target" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
    -verbosity=0 -artifact_prefix="$work/crashes/$name-" "$work/corpus/$name" "$here/corpus/$name" \
    > "$work/$name.log" 2>&1; then
    echo "   ok, $(find "$work/corpus/$name" -type f | wc -l) inputs in its corpus"
  else
    broken=$((broken + 1))
    tail -40 "$work/$name.log"
    echo "   BROKEN: see $work/$name.log and $work/crashes"
  fi
done
echo "fuzz: $(find "$bin" -name '*_fuzz' | wc -l) targets, $broken broken"
[[ $broken -eq 0 ]]
