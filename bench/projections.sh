#!/usr/bin/env bash
# Exports every skill of the shared corpus for the Claude API and validates each projection without errors with the reference
# tool, which must accept all of them. Without the corpus, the examples are exported. Argument: the maximum number of skills.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/peers/skills-ref
if [ ! -x "$venv/bin/agentskills" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "skills-ref==0.1.1"
fi
rep=${REP:-target/release/rep}
[ -n "${REP:-}" ] || cargo build --quiet --release
corpus=../shared/corpus/skills
[ -d "$corpus" ] || { echo "note: ../shared is not here; only the examples are exported"; corpus=examples; }
python3 bench/projections.py "$rep" "$venv/bin/agentskills" "$corpus" "${1:-}"
