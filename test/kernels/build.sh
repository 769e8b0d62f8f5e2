#!/bin/sh
# A small kernel for the tests of this folder, of any Linux from its source. $1: the source, which stays as it is. $2: the
# folder for CNPD_KERNEL; objects are kept in it. It takes some minutes of two CPUs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for program in make gcc flex bison bc pahole; do
  command -v $program >/dev/null || {
    echo "test/kernels/build.sh needs $program: apt-get install make gcc flex bison bc dwarves libelf-dev" >&2
    exit 1
  }
done
mkdir -p "$2/boot"
source=$1
to=$(cd "$2" && pwd)
kernel() {
  make -s -C "$source" O="$to/objects" "$@"
}
kernel KCONFIG_ALLCONFIG="$here/kernel.config" allnoconfig
grep '^CONFIG' "$here/kernel.config" | grep -vxFf "$to/objects/.config" | sed 's/^/this Linux has no /' >&2 || true
nice -n 15 make -s -C "$source" O="$to/objects" -j"${CNPD_JOBS:-$(nproc)}" bzImage
version=$(kernel kernelrelease)
rm -f "$to"/boot/vmlinuz-*
cp "$to/objects/arch/x86/boot/bzImage" "$to/boot/vmlinuz-$version"
echo "CNPD_KERNEL=$to: Linux $version"
