#!/usr/bin/env bash
# Installs skills with `rep install` and checks that real hosts list them. Then the npm tool `skills` installs from an index
# written by `rep export --host well-known`, and its lock file and hashes are compared with ours. Needs npm, git, Python 3.9
# and the npm registry. Passes its arguments to bench/install.py. Not part of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v npm >/dev/null; then
  echo "NOT COMPARED: npm is not installed, so neither the hosts nor the npm tool can be" >&2
  exit 0
fi
cargo build --quiet
python3 bench/install.py target/debug/rep "$@"
