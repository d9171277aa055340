#!/usr/bin/env bash
# Builds the archives of a release: `release/build.sh OUT [TARGET…]`. Without targets, those of Linux.
# Needs cargo-zigbuild and zig, both of which `pip install cargo-zigbuild ziglang` installs, and the targets of rustup.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { echo "usage: release/build.sh OUT [TARGET…]" >&2; exit 2; }
out=$1
shift
# A suffix is the oldest version of glibc that the program may need.
targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-unknown-linux-gnu.2.28 x86_64-unknown-linux-musl aarch64-unknown-linux-gnu.2.28 aarch64-unknown-linux-musl)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
REP_COMMIT=$(git rev-parse HEAD)
export REP_COMMIT
# One time for all files makes archives of the same program equal.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
mkdir -p "$out"
out=$(cd "$out" && pwd)

for target in "${targets[@]}"; do
  triple=${target%.2.*}
  rustup target add "$triple" >/dev/null
  cargo zigbuild --release --package rep --target "$target"
  name=rep-$version-$triple
  folder=$(mktemp -d)
  mkdir "$folder/$name"
  cp "${CARGO_TARGET_DIR:-target}/$triple/release/rep" LICENSE-MIT LICENSE-APACHE README.md "$folder/$name/"
  # The parts of the program, with their licences and digests.
  python3 release/sbom.py "$triple" >"$folder/$name/rep.cdx.json"
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --directory "$folder" "$name" \
    | gzip --no-name -9 >"$out/$name.tar.gz"
  rm -rf "$folder"
  echo "$name.tar.gz $(stat -c %s "$out/$name.tar.gz") bytes"
done
(cd "$out" && sha256sum ./*.tar.gz | sed 's# \./# #' >SHA256SUMS)
