#!/usr/bin/env bash
# Installs the hosts that can list skills offline, asks each which skills it lists in generated homes and projects, and
# compares the result with `rep list --host`. Needs Node 20, npm, git and Python 3.9. Passes its arguments to bench/hosts.py.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v npm >/dev/null; then
  echo "NOT COMPARED: npm is not installed, so no host can be" >&2
  exit 0
fi
cargo build --quiet
python3 bench/hosts.py target/debug/rep "$@"
