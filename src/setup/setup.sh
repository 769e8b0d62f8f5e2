#!/usr/bin/env bash
# Brings a Debian 12 machine with Node to the point where cnpd can be built, tested and shown: Debian packages, npm packages, build.
# Idempotent: it installs only what is missing and says what it does. Used by `npm test`, `npm run demo` and `npm run bench`.
set -euo pipefail
cd "$(dirname "$0")/../.."
say() { printf 'setup: %s\n' "$*"; }

if [ "$(id -u)" != 0 ]; then
  say 'needs root: network namespaces, eBPF and FRR are used for real'; exit 1
fi
if ! node -e 'const [a,b]=process.versions.node.split(".").map(Number); process.exit(a>20||(a===20&&b>=19)?0:1)'; then
  say "needs Node.js 20.19 or newer, found $(node --version)"; exit 1
fi

# package → a file that proves it is installed (dpkg alone would accept a half-removed package)
declare -A NEEDED=(
  [frr]=/usr/lib/frr/isisd [bird2]=/usr/sbin/bird [gobgpd]=/usr/bin/gobgpd [exabgp]=/usr/sbin/exabgp [iproute2]=/usr/sbin/ip
  [clang]=/usr/bin/clang [llvm]=/usr/bin/llvm-strip
  [libbpf-dev]=/usr/include/bpf/bpf_helpers.h
  [libbpf1]=/usr/lib/x86_64-linux-gnu/libbpf.so.1 [bpftool]=/usr/sbin/bpftool [tshark]=/usr/bin/tshark
  [libyang-tools]=/usr/bin/yanglint [python3-scapy]=/usr/lib/python3/dist-packages/scapy/__init__.py
  [ethtool]=/usr/sbin/ethtool [iputils-ping]=/usr/bin/ping [procps]=/usr/bin/pgrep
)
case "$(uname -m)" in aarch64) NEEDED[libbpf1]=/usr/lib/aarch64-linux-gnu/libbpf.so.1 ;; esac
missing=()
for package in "${!NEEDED[@]}"; do [ -e "${NEEDED[$package]}" ] || missing+=("$package"); done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing Debian packages: ${missing[*]}"
  apt-get update -qq
  # The packages of FRR, BIRD, GoBGP and ExaBGP start their services where systemd runs; the lab runs its own daemons, so only the files are needed here.
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  say 'Debian packages: all there'
fi

lock=$(sha256sum package-lock.json | cut -c1-64)
if [ "$(cat node_modules/.cnpd-lock 2>/dev/null || true)" != "$lock" ]; then
  say 'npm ci'
  npm ci --silent --no-fund --no-audit
  printf '%s' "$lock" > node_modules/.cnpd-lock
else
  say 'npm packages: as locked'
fi
say 'build'
node src/setup/build.mjs
say 'ready'
