#!/usr/bin/env bash
# Finds the rep binary for the action: the given one, or a download with the expected digest, or the one on PATH.
# Inputs are environment variables, so that nothing in them is read as shell code.
set -euo pipefail

fail() { printf '::error title=rep::%s\n' "$1"; exit 2; }

if [ -n "${REP_BINARY:-}" ]; then
  rep=$REP_BINARY
  case $rep in /*) ;; *) rep=$PWD/$rep ;; esac
elif [ -n "${REP_URL:-}" ]; then
  [ -n "${REP_SHA256:-}" ] || fail "sha256 is required with url"
  case $REP_URL in https://* | http://127.0.0.1:* | http://localhost:*) ;; *) fail "url must start with https://" ;; esac
  rep=$(mktemp -d "${RUNNER_TEMP:-/tmp}/rep.XXXXXX")/rep
  curl --fail --silent --show-error --location --proto '=https,http' --proto-redir '=https' --max-time 300 \
    --output "$rep" -- "$REP_URL" || fail "could not download rep"
  printf '%s  %s\n' "$REP_SHA256" "$rep" | sha256sum --check --status || fail "the digest of the download is not sha256"
  chmod 700 "$rep"
else
  rep=$(command -v rep) || fail "rep is not on PATH; set binary, or url and sha256"
fi
[ -x "$rep" ] || fail "the binary is not executable"
"$rep" --version
printf 'rep=%s\n' "$rep" >> "$GITHUB_OUTPUT"
