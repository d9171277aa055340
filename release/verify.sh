#!/usr/bin/env bash
# Checks a finished release: `release/verify.sh DIST`. Every program must need no newer glibc than its name says and start; those of
# x86-64 must also run a script in the sandbox. Programs of aarch64 start under qemu, without a test of the sandbox, which this
# processor does not have. What cannot be checked here is reported and passes.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: release/verify.sh DIST" >&2; exit 2; }
dist=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shopt -s nullglob
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
fail() { echo "error: $1" >&2; exit 1; }

(cd "$dist" && sha256sum --check --quiet SHA256SUMS)
for archive in "$dist"/rep-*.tar.gz; do
  name=$(basename "$archive" .tar.gz)
  tar -xzf "$archive" -C "$work"
  program=$work/$name/rep
  for part in LICENSE-MIT LICENSE-APACHE rep.cdx.json; do
    [ -s "$work/$name/$part" ] || fail "$name lacks $part"
  done
  needed=$(readelf --wide --dynamic --version-info "$program")
  case $name in
    *-musl)
      grep -q '(NEEDED)' <<<"$needed" && fail "$name is not static"
      ;;
    *-gnu)
      newest=$(grep -o 'GLIBC_[0-9.]*' <<<"$needed" | sort -uV | tail -n 1)
      [ "$(printf '%s\n' "$newest" GLIBC_2.28 | sort -V | tail -n 1)" = GLIBC_2.28 ] || fail "$name needs $newest"
      grep -q DT_RELR <<<"$needed" && fail "$name has packed relocations, which glibc before 2.36 refuses"
      ;;
  esac
  start=()
  if [[ $name != *-"$(uname -m)"-* ]]; then
    machine=${name#rep-"$version"-}
    machine=${machine%%-*}
    emulator=$(command -v "qemu-$machine-static" || command -v "qemu-$machine" || true)
    if [ -z "$emulator" ]; then
      echo "SKIPPED: qemu-$machine is not installed, so $name did not start"
      continue
    fi
    start=("$emulator")
    # A program that is not static also needs the loader and libraries of its processor.
    if [[ $name == *-gnu ]]; then
      root=/usr/$machine-linux-gnu
      [ -d "$root" ] || { echo "SKIPPED: $root does not exist, so $name did not start"; continue; }
      start+=(-L "$root")
    fi
  fi
  printed=$("${start[@]}" "$program" --version)
  [ "$printed" = "rep $version" ] || fail "$name prints $printed"
  "${start[@]}" "$program" query slugify:meta.name --path examples >/dev/null
  if [ ${#start[@]} -eq 0 ]; then
    printed=$(XDG_DATA_HOME=$work/data "$program" run examples/slugify --script scripts/slugify.py -- 'Crème brûlée')
    [[ $printed == *creme-brulee* ]] || fail "$name runs no script in the sandbox"
    echo "$name: starts, and runs a script in the sandbox"
  else
    echo "$name: starts under emulation; it has no sandbox, so runs were not tested"
  fi
done

image=$dist/rep-image.tar
if [ -f "$image" ]; then
  if command -v skopeo >/dev/null; then
    skopeo copy --quiet --override-arch "$(dpkg --print-architecture 2>/dev/null || echo amd64)" "oci-archive:$image" "dir:$work/image"
    root=$work/root
    mkdir "$root"
    layer=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["layers"][0]["digest"].split(":")[1])' "$work/image/manifest.json")
    tar -xzf "$work/image/$layer" -C "$root"
    if [ "$(id -u)" = 0 ]; then
      [ "$(chroot "$root" /rep --version)" = "rep $version" ] || fail "the program of the image does not start"
      echo "rep-image.tar: its program starts with nothing else around it"
    else
      echo "SKIPPED: only root can change the root directory, so the program of the image did not start"
    fi
  else
    echo "SKIPPED: skopeo is not installed, so the image was not read"
  fi
fi

auditwheel=$(command -v auditwheel || true)
for wheel in "$dist"/*.whl; do
  [ "$(stat -c %s "$wheel")" -le 13000000 ] || fail "$(basename "$wheel") is larger than 13 MB"
  [ -n "$auditwheel" ] || { echo "SKIPPED: auditwheel is not installed, so the tags of the wheels were not verified"; break; }
  tag=$(basename "$wheel" .whl)
  tag=${tag##*-}
  shown=$("$auditwheel" show "$wheel" 2>&1 | tr '\n' ' ')
  [[ $shown == *"$tag"* ]] || fail "auditwheel does not agree with $tag: $shown"
  echo "$(basename "$wheel"): auditwheel agrees with its tag"
done
(cd "$dist" && stat -c '%s bytes %n' ./*)
