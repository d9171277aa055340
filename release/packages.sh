#!/usr/bin/env bash
# Builds the wheels, the npm packages and the container image of the archives in a directory, and the digests of everything:
# `release/packages.sh DIST`.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: release/packages.sh DIST" >&2; exit 2; }
dist=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shopt -s nullglob
for archive in "$dist"/rep-*.tar.gz; do
  name=$(basename "$archive" .tar.gz)
  tar -xzf "$archive" -C "$work"
  program=$work/$name/rep
  case $name in
    *-x86_64-unknown-linux-gnu) tag=manylinux_2_28_x86_64 npm=(--platform linux --arch x64 --libc glibc) ;;
    *-x86_64-unknown-linux-musl) tag=musllinux_1_2_x86_64 npm=(--platform linux --arch x64 --libc musl) ;;
    *-aarch64-unknown-linux-gnu) tag=manylinux_2_28_aarch64 npm=(--platform linux --arch arm64 --libc glibc) ;;
    *-aarch64-unknown-linux-musl) tag=musllinux_1_2_aarch64 npm=(--platform linux --arch arm64 --libc musl) ;;
    *) echo "no package for $name" >&2; continue ;;
  esac
  foreign=()
  case $name in *-"$(uname -m)"-*) ;; *) foreign=(--foreign) ;; esac
  python3 python/build_wheel.py "$program" "$dist" --tag "$tag" --sbom "$work/$name/rep.cdx.json" "${foreign[@]}"
  node npm/build_packages.mjs "$program" "$dist" "${npm[@]}" --sbom "$work/$name/rep.cdx.json"
done
static=("$dist"/rep-*-unknown-linux-musl.tar.gz)
if [ ${#static[@]} -gt 0 ]; then
  python3 release/image.py "$dist" "$dist/rep-image.tar" --commit "$(git rev-parse HEAD)"
fi
cp release/install.sh release/rep.service "$dist/"
(cd "$dist" && sha256sum ./*.tar.gz ./*.whl ./*.tgz ./*.tar ./install.sh ./rep.service | sed 's# \./# #' | sort -k 2 >SHA256SUMS)
