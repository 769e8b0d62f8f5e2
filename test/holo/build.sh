#!/bin/sh
# holod from its public source, with IS-IS and OSPF, at the commit that the tests know. $1: the directory of the result
# and of the source, which is kept. It takes some minutes of two CPUs, and Rust.
set -eu
to=$1
commit=c52e1aa8be4980e6408a76f1b62c33f4e45e84fc
repository=${CNPD_HOLO_SOURCE:-https://github.com/holo-routing/holo}
[ ! -x "$to/holod" ] || exit 0
for program in cargo git cmake protoc; do
  command -v $program >/dev/null || {
    echo "test/holo/build.sh needs $program: apt-get install cmake protobuf-compiler libprotobuf-dev libpcre2-dev libclang-dev," \
      "and Rust" >&2
    exit 1
  }
done
mkdir -p "$to"
[ -d "$to/source/.git" ] || git clone "$repository" "$to/source"
git -C "$to/source" checkout --quiet $commit
cd "$to/source"
CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 nice -n 15 cargo build --locked -p holo-daemon --no-default-features \
  --features base,isis,ospf,yang5_bundled
cp target/debug/holod "$to/holod"
