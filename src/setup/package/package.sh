#!/usr/bin/env bash
# Makes the npm tarball and the Debian packages in out/, and checks the latter with lintian. Called by `npm run package`
# behind src/setup/setup.sh, which builds. Arguments are those of package.mjs.
set -euo pipefail
cd "$(dirname "$0")/../../.."

declare -A NEEDED=([debhelper]=/usr/bin/dh [dpkg-dev]=/usr/bin/dpkg-buildpackage [lintian]=/usr/bin/lintian)
missing=()
for package in "${!NEEDED[@]}"; do [ -e "${NEEDED[$package]}" ] || missing+=("$package"); done
if [ ${#missing[@]} -gt 0 ]; then
  printf 'package: installing Debian packages: %s\n' "${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

made=$(node src/setup/package/package.mjs "$@")
printf '%s\n' "$made"
# Overrides, each with its reason: debian*/*.lintian-overrides.
mapfile -t packages < <(sed -n 's/^package: \(.*\.deb\)$/\1/p' <<< "$made")
lintian --allow-root --fail-on error,warning "${packages[@]}"
echo 'package: lintian has nothing to object'
