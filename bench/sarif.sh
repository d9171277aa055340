#!/usr/bin/env bash
# Validates our SARIF output against the published schema, which a crate contains. The schema is not stored here.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=target/peers/sarif
mkdir -p "$scratch/src"
printf '[package]\nname = "sarif-schema"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\nserde-sarif = "=0.8.0"\n' > "$scratch/Cargo.toml"
echo 'fn main() {}' > "$scratch/src/main.rs"
schema=$(cargo metadata --quiet --format-version 1 --manifest-path "$scratch/Cargo.toml" |
  python3 -c 'import json,sys,pathlib; print(next(pathlib.Path(p["manifest_path"]).parent for p in json.load(sys.stdin)["packages"] if p["name"] == "serde-sarif") / "src" / "schema.json")')
venv=target/peers/jsonschema
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "jsonschema==4.23.0"
fi
rep=${1:-target/release/rep}
for path in examples crates/rep/tour ../shared/corpus/skills; do
  [ -d "$path" ] || { echo "SKIPPED: $path is not here"; continue; }
  "$rep" check "$path" --format sarif > "$scratch/log.sarif" || [ $? = 1 ]
  "$venv/bin/python" - "$schema" "$scratch/log.sarif" "$path" <<'P'
import json, sys
from jsonschema import Draft7Validator
schema, log = (json.load(open(p)) for p in sys.argv[1:3])
errors = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in Draft7Validator(schema).iter_errors(log)]
print(f"SARIF of {sys.argv[3]}: {len(log['runs'][0]['results'])} results, {len(errors)} schema errors")
sys.exit("\n".join(errors[:10]) if errors else 0)
P
done
