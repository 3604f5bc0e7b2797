#!/usr/bin/env bash
# Tells which C++ sources clang-format would change; with --fix, changes them.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v clang-format > /dev/null || { echo "format: clang-format is not installed (make setup)"; exit 1; }
mapfile -t files < <(find . \( -path ./build -o -path ./.git \) -prune -o \
  \( -name '*.h' -o -name '*.cc' \) -print | sort)
if [[ ${1:-} == --fix ]]; then
  printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 20 clang-format -i
  exit
fi

bad=$(printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 20 clang-format --dry-run 2>&1 |
  sed -n 's/^\(\.\/[^:]*\):.*clang-format-violations.*/\1/p' | sort -u)
if [[ -n $bad ]]; then
  printf '%s\n' "$bad"
  echo "format: the files above are not formatted; 'make format' does it"
  exit 1
fi
echo "format: ${#files[@]} files are formatted"
