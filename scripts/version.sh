#!/usr/bin/env bash
# Prints the version of this tree, as git has it: the one place from which programs, images, packages and
# charts take it.
#
#   scripts/version.sh            v0.1.0 on the tag of that name, v0.1.0-12-gcba2ef23a twelve commits later.
#                                 Before the first tag: v0.1.0-dev.1035.gcba2ef23a, of which 0.1.0 is the
#                                 version in CMakeLists.txt. With changes that are not committed: -dirty.
#   scripts/version.sh semver     the same without the v, for charts
#   scripts/version.sh debian     the same so that dpkg orders it: 0.1.0~dev.1035.gcba2ef23a before 0.1.0,
#                                 0.1.0+12.gcba2ef23a behind it
#   scripts/version.sh commit     the full hash of the commit
#   scripts/version.sh tree       clean or dirty
#   scripts/version.sh date       when the commit was made, as 2026-11-24T17:11:21Z
#   scripts/version.sh epoch      the same in seconds, as SOURCE_DATE_EPOCH has it
#   scripts/version.sh all        all of these, as lines name=value
#
# Outside of a git repository the version is that of CMakeLists.txt, and commit, tree, date and epoch are empty.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
readonly root

# A tree that belongs to somebody else, as in a container, is read all the same.
in_git() { git --no-optional-locks -c safe.directory='*' -C "$root" "$@" 2> /dev/null; }

base=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
[[ -n $base ]] || { echo "version: CMakeLists.txt names no version" >&2; exit 1; }

commit="" tree="" date="" epoch=""
version=v$base
# Only a repository of this tree itself, not one around it.
if [[ $(in_git rev-parse --show-toplevel) == "$root" ]]; then
  commit=$(in_git rev-parse HEAD)
  epoch=$(in_git log -1 --format=%ct)
  date=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
  tree=clean
  # Only what git knows: a new source counts once it is added.
  [[ -z $(in_git status --porcelain --untracked-files=no) ]] || tree=dirty
  version=$(in_git describe --tags --abbrev=9 --match 'v[0-9]*') ||
    version=v$base-dev.$(in_git rev-list --count HEAD).g${commit:0:9}
  [[ $tree == clean ]] || version+=-dirty
fi

semver=${version#v}
debian=$(sed -E 's/-(dev|alpha|beta|rc)/~\1/; s/-([0-9]+)-g/+\1.g/; s/-/./g' <<< "$semver")

case ${1:-version} in
  version) echo "$version" ;;
  semver | debian | commit | tree | date | epoch) echo "${!1}" ;;
  all) for name in version semver debian commit tree date epoch; do echo "$name=${!name}"; done ;;
  *)
    echo "version: there is no \"$1\"; there are version, semver, debian, commit, tree, date, epoch, all" >&2
    exit 2
    ;;
esac
