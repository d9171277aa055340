#!/usr/bin/env bash
# Installs skills with `rep install` and asks real hosts whether they list them; then lets the npm tool `skills` install from an
# index that `rep export --host well-known` wrote, and compares its lock file and hashes with ours. Needs npm, git, Python 3.9
# and the npm registry; arguments go to bench/install.py. Not part of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v npm >/dev/null; then
  echo "NOT COMPARED: npm is not installed, so neither the hosts nor the npm tool can be" >&2
  exit 0
fi
cargo build --quiet
python3 bench/install.py target/debug/rep "$@"
