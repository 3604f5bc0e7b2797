#!/usr/bin/env bash
# Fetches OpenSearch, of the version that pom.xml pins, with Maven, compiles OneNode.java, and prints the folder
# with the classes. The folder is named after these files, so a second run has nothing to do.
#
# TESTBED_HOME overrides where the folder is made (default: ~/.cache/karmada-testbed).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
readonly here

say() { printf '%s testbed: %s\n' "$(date +%H:%M:%S)" "$*" >&2; }
die() {
  printf 'testbed: %s\n' "$*" >&2
  exit 1
}

for tool in mvn javac java; do
  command -v "$tool" > /dev/null || die "no '$tool' in PATH: scripts/setup.sh e2e installs it"
done
stamp=$(cat "$here/pom.xml" "$here/OneNode.java" "$here/fetch.sh" | sha256sum | cut -c1-16)
home=${TESTBED_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/karmada-testbed}
out=$home/opensearch-$stamp
mkdir -p "$home"
exec 9> "$out.lock"
flock 9
if [[ ! -d $out ]]; then
  say "fetching OpenSearch into $out (50 MB)"
  rm -rf "$out.tmp"
  mkdir -p "$out.tmp"
  mvn --quiet --batch-mode -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$out.tmp" >&2 ||
    die "Maven could not fetch OpenSearch (see above)"
  javac -cp "$out.tmp/*" -d "$out.tmp" "$here/OneNode.java"
  mv "$out.tmp" "$out"
fi
echo "$out"
