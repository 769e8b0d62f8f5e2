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
# Overrides, each with its reason: debian*/*.lintian-overrides. Node.js takes minutes, so a package that has passed is not
# looked at again.
mkdir -p out/fetched
mapfile -t packages < <(sed -n 's/^package: \(.*\.deb\)$/\1/p' <<< "$made")
for package in "${packages[@]}"; do
  passed=out/fetched/$(basename "$package").passed
  sum=$(sha256sum < "$package")
  [ "$(cat "$passed" 2>/dev/null || true)" = "$sum" ] && continue
  lintian --allow-root --fail-on error,warning "$package"
  printf '%s\n' "$sum" > "$passed"
done
echo 'package: lintian has nothing to object'
