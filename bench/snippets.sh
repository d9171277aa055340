#!/usr/bin/env bash
# Installs the configuration that `rep serve --print-config HOST` prints, and checks that real hosts reach the server: over
# stdio, and over HTTP with a token. Needs npm and the npm registry; not part of the tests.
#
#   bench/snippets.sh [FOLDER] [BINARY]
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
lab=${1:-${TMPDIR:-/tmp}/rep-snippets}
rep=$(realpath "${2:-$here/target/debug/rep}")
command -v npm >/dev/null || { echo "NOT COMPARED: npm is not installed, so no host can be asked" >&2; exit 0; }
mkdir -p "$lab/bin" && cd "$lab" || exit 2
if [ ! -e installed ]; then
  [ -e package.json ] || npm init -y >/dev/null
  npm install --silent @anthropic-ai/claude-code@2.1.197 @google/gemini-cli opencode-ai @openai/codex || exit 2
  touch installed
fi
ln -sf "$rep" bin/rep
export PATH=$lab/bin:$lab/node_modules/.bin:$PATH

failed=0
said() {
  printf '%-6s %s\n' "$1" "$2"
  [ "$1" = pass ] || { failed=$((failed + 1)); cat answer; }
}
# Every host has a separate home.
fresh() { rm -rf "home-$1" && mkdir -p "home-$1" && export HOME=$lab/home-$1; }
# The settings are on stdout, and what to do with them is on stderr.
snippet() { "$rep" serve --print-config "$1" --path "$here/examples" "${@:2}"; }

export REPERTOIRE_TOKEN=a-token-nobody-can-guess
echo "$REPERTOIRE_TOKEN" >tokens.txt
: >server.log
"$rep" serve --http 127.0.0.1:0 --path "$here/examples" --token-file tokens.txt 2>server.log &
server=$!
trap 'kill $server 2>/dev/null' EXIT
url=
until [ -n "$url" ]; do
  kill -0 $server 2>/dev/null || { cat server.log; exit 2; }
  url=$(sed -n 's/^listening on //p' server.log)
done
address=${url#http://} address=${address%/mcp}

for way in stdio http; do
  options=()
  [ $way = http ] && options=(--http "$address" --token-file tokens.txt)

  fresh "claude-$way"
  snippet claude-code "${options[@]}" 2>&1 >/dev/null | sed -n 's/^or run: //p' >command
  (cd "$HOME" && bash "$lab/command" >/dev/null 2>&1; timeout 120 claude mcp list) >answer 2>&1
  grep -q 'repertoire.*✔\|repertoire.*✓\|repertoire.*Connected' answer && said pass "claude-code $way" || said FAIL "claude-code $way"

  fresh "gemini-$way"
  mkdir -p "$HOME/.gemini"
  snippet gemini-cli "${options[@]}" >"$HOME/.gemini/settings.json"
  (cd "$HOME" && GEMINI_CLI_TRUST_WORKSPACE=true timeout 120 gemini mcp list) >answer 2>&1
  grep -q 'repertoire.*Connected' answer && said pass "gemini-cli $way" || said FAIL "gemini-cli $way"

  fresh "opencode-$way"
  snippet opencode "${options[@]}" >"$HOME/opencode.json"
  (cd "$HOME" && timeout 120 opencode mcp list) >answer 2>&1
  grep -q 'repertoire.*connected' answer && said pass "opencode $way" || said FAIL "opencode $way"

  # Codex reads the settings and lists the server, but connects only if it has a model.
  fresh "codex-$way"
  mkdir -p "$HOME/.codex"
  snippet codex "${options[@]}" >"$HOME/.codex/config.toml"
  (cd "$HOME" && timeout 120 codex mcp get repertoire) >answer 2>&1
  grep -q 'enabled: true' answer && said pass "codex $way (read, not connected)" || said FAIL "codex $way"
done
[ $failed = 0 ]
