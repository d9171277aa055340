#!/bin/sh
# Installs the program of a release: `REP_RELEASE=https://… sh install.sh`. REP_RELEASE is the address of the directory that
# holds the archives and SHA256SUMS, REP_VERSION the version (the newest in SHA256SUMS without it), REP_INSTALL_DIR where the
# program goes (~/.local/bin without it). Nothing is installed if a digest is wrong.
set -eu

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }

main() {
  release=${REP_RELEASE:-}
  case $release in
    https://* | http://127.0.0.1:* | http://localhost:*) ;;
    '') fail "set REP_RELEASE to the address of a release" ;;
    *) fail "REP_RELEASE must start with https://" ;;
  esac
  [ "$(uname -s)" = Linux ] || fail "there are binaries for Linux only; build from source with cargo"
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no binary for $(uname -m); build from source with cargo" ;;
  esac
  # The static program runs everywhere; the other one is faster and stores its keys in the desktop's keyring.
  libc=musl
  if glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null); then
    minor=${glibc#*.}
    [ "${minor%%.*}" -ge 28 ] 2>/dev/null && libc=gnu
  fi
  target=$machine-unknown-linux-${REP_LIBC:-$libc}
  folder=${REP_INSTALL_DIR:-$HOME/.local/bin}

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  download "$release/SHA256SUMS" "$work/SHA256SUMS"
  if [ -n "${REP_VERSION:-}" ]; then
    name=rep-$REP_VERSION-$target
  else
    name=$(sed -n "s/^[0-9a-f]\{64\}  \(rep-[0-9][0-9A-Za-z.+-]*-$target\)\.tar\.gz\$/\1/p" "$work/SHA256SUMS" | sort -V | tail -n 1)
    [ -n "$name" ] || fail "the release has no archive for $target"
  fi
  digest=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
  [ -n "$digest" ] || fail "SHA256SUMS does not name $name.tar.gz"
  download "$release/$name.tar.gz" "$work/archive"
  printf '%s  %s\n' "$digest" "$work/archive" | sha256sum -c - >/dev/null 2>&1 \
    || fail "the digest of $name.tar.gz is not the one in SHA256SUMS; nothing was installed"
  tar -xzf "$work/archive" -C "$work" "$name/rep" || fail "$name.tar.gz does not hold the program"
  "$work/$name/rep" --version >/dev/null || fail "the program does not start on this system"
  mkdir -p "$folder"
  # A rename replaces a program that is running.
  cp "$work/$name/rep" "$folder/.rep.new.$$"
  chmod 755 "$folder/.rep.new.$$"
  mv "$folder/.rep.new.$$" "$folder/rep"
  printf 'installed %s in %s\n' "$("$folder/rep" --version)" "$folder"
  case :$PATH: in *:"$folder":*) ;; *) printf 'add it to your PATH: export PATH="%s:$PATH"\n' "$folder" ;; esac
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto '=https,http' --proto-redir '=https' --max-time 600 --output "$2" -- "$1" \
      || fail "could not download $1"
  else
    wget --quiet --output-document="$2" -- "$1" || fail "could not download $1"
  fi
}

# A script that arrives incompletely does nothing.
main "$@"
