#!/usr/bin/env bash
# Installs what scripts/packages.txt lists and this machine lacks.
#
#   scripts/setup.sh GROUP...     for example: scripts/setup.sh build e2e
#
# Says nothing and needs no rights when nothing is missing. Asks for root, through sudo, only to install.
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

# Runs a command as root.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "this needs root and there is no sudo here. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  fi
}

[[ $# -gt 0 ]] || die "name the groups to install, for example: scripts/setup.sh build"
command -v dpkg-query > /dev/null ||
  die "this is not a Debian system. Install what $list names with your own package manager and
  run cmake directly (docs/development.md tells how)."

mapfile -t missing < <(missing_of "$@")
# A process substitution's failure is not seen by 'set -e': ask again for the groups' names alone.
for group in "$@"; do packages_of "$group" > /dev/null; done
[[ ${#missing[@]} -gt 0 ]] || exit 0

# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-unknown}")
[[ $release == "debian 12" ]] ||
  printf 'setup: this is %s; the project is built and tested on debian 12\n' "$release" >&2

printf 'setup: installing %d Debian packages: %s\n' "${#missing[@]}" "${missing[*]}"
[[ $(id -u) -eq 0 ]] || printf 'setup: this needs root, sudo may ask for your password\n'
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o Acquire::Retries=3
  -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 -o DPkg::Lock::Timeout=300)
as_root "${apt[@]}" update ||
  die "'apt-get update' did not succeed (see above). Is the network up, and are the apt sources right?"
as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
  die "'apt-get install' did not succeed (see above)"
printf 'setup: done\n'
