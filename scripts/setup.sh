#!/usr/bin/env bash
# Installs what scripts/packages.txt lists and this machine lacks.
#
#   scripts/setup.sh GROUP...     for example: scripts/setup.sh build e2e
#
# Says nothing and needs no rights when nothing is missing. Asks for root, through sudo, only to install what a group
# needs; what is in its group GROUP-optional is installed along with that, or when root runs this, and is never a reason
# to fail.
set -euo pipefail

list=$(dirname "$0")/packages.txt
readonly list

die() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

# The packages of one group of the list.
packages_of() {
  awk -v want="[$1]" '
    /^[[:space:]]*(#|$)/ { next }
    /^\[/ { inside = ($1 == want); found = found || inside; next }
    inside { print $1 }
    END { exit !found }' "$list" || die "$list has no group [$1]"
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2> /dev/null) == ii* ]]
}

missing_of() {
  local group package packages
  for group in "$@"; do
    packages=$(packages_of "$group")
    for package in $packages; do
      is_installed "$package" || echo "$package"
    done
  done | sort -u
}

# The groups of optional packages that belong to the groups given.
optional_of() {
  local group
  for group in "$@"; do
    grep -qxF "[$group-optional]" "$list" && echo "$group-optional"
  done
  return 0
}

go_on_without() {
  printf 'setup: the build works without %s, and would be faster with it\n' "${optional[*]}" >&2
  exit 0
}

# Runs a command as root.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "this needs root and there is no sudo here. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]} ${optional[*]}"
  fi
}

[[ $# -gt 0 ]] || die "name the groups to install, for example: scripts/setup.sh build"
command -v dpkg-query > /dev/null ||
  die "this is not a Debian system. Install what $list names with your own package manager and
  run cmake directly (see docs/development.md)."

mapfile -t missing < <(missing_of "$@")
# A process substitution's failure is not seen by 'set -e': ask again for the groups' names alone.
for group in "$@"; do packages_of "$group" > /dev/null; done
mapfile -t optional_groups < <(optional_of "$@")
mapfile -t optional < <(missing_of "${optional_groups[@]}")
[[ ${#missing[@]} -gt 0 || ${#optional[@]} -gt 0 ]] || exit 0
[[ ${#missing[@]} -gt 0 || $(id -u) -eq 0 ]] || go_on_without

# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-unknown}")
[[ $release == "debian 12" ]] ||
  printf 'setup: this is %s; the project is built and tested on debian 12\n' "$release" >&2

wanted=("${missing[@]}" "${optional[@]}")
printf 'setup: installing %d Debian packages: %s\n' "${#wanted[@]}" "${wanted[*]}"
[[ $(id -u) -eq 0 ]] || printf 'setup: this needs root, sudo may ask for your password\n'
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o Acquire::Retries=3
  -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 -o DPkg::Lock::Timeout=300)
failed() {
  [[ ${#missing[@]} -gt 0 ]] || go_on_without
  die "$1"
}
as_root "${apt[@]}" update ||
  failed "'apt-get update' did not succeed (see above). Is the network up, and are the apt sources right?"
as_root "${apt[@]}" install -y --no-install-recommends "${wanted[@]}" ||
  failed "'apt-get install' did not succeed (see above)"
printf 'setup: done\n'
