#!/bin/sh
# Debian 13's FRR for this machine: its packages in a directory of their own, and a program of each name that starts the
# one there with the libraries that are there. $1: the directory; it is kept.
set -eu
to=$1
mirror=${CNPD_DEBIAN_MIRROR:-$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1)}
if [ ! -e "$to/usr/lib/frr/isisd" ]; then
  rm -rf "$to.part"
  debootstrap --variant=minbase trixie "$to.part" "${mirror:-http://deb.debian.org/debian}"
  printf '#!/bin/sh\nexit 101\n' >"$to.part/usr/sbin/policy-rc.d"
  chmod +x "$to.part/usr/sbin/policy-rc.d"
  cp /etc/resolv.conf "$to.part/etc/resolv.conf"
  unshare --mount sh -c 'mount -t proc proc "$0/proc" &&
    DEBIAN_FRONTEND=noninteractive chroot "$0" apt-get install -y --no-install-recommends frr' "$to.part"
  rm -rf "$to"
  mv "$to.part" "$to"
fi
mkdir -p "$to/started"
for program in "$to"/usr/lib/frr/zebra "$to"/usr/lib/frr/*d "$to/usr/bin/vtysh"; do
  name=$(basename "$program")
  cat >"$to/started/$name" <<END
#!/bin/sh
exec $to/lib64/ld-linux-x86-64.so.2 --library-path $to/usr/lib/x86_64-linux-gnu:$to/usr/lib/x86_64-linux-gnu/frr \\
  --argv0 \$0 $program "\$@"
END
  chmod +x "$to/started/$name"
done
