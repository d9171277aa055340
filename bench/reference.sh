#!/usr/bin/env bash
# Installs the reference tool into a temporary directory and compares the three drop-in commands with it, byte for byte,
# on the examples and, if present, the shared conformance cases. Known differences, in which the
# specification contradicts the reference tool, are listed in bench/reference-differs.txt with the reason.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/peers/skills-ref
if [ ! -x "$venv/bin/agentskills" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "skills-ref==0.1.1"
fi
cargo build --quiet --release
python3 bench/reference.py target/release/rep "$venv/bin/agentskills" bench/reference-differs.txt
