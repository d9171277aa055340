#!/usr/bin/env bash
# Drives the packaged extension in a real VS Code: vscode.sh CODE_SERVER PLAYWRIGHT VSIX FOLDER SKILL.md
# CODE_SERVER starts code-server, PLAYWRIGHT is the directory of playwright-core. Everything listens on loopback only.
set -euo pipefail
server=$1 playwright=$2 package=$(realpath "$3") folder=$(realpath "$4") file=$(realpath "$5")
here=$(cd "$(dirname "$0")" && pwd)
state=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
options=(--user-data-dir "$state/user" --extensions-dir "$state/extensions")
"$server" "${options[@]}" --install-extension "$package" >"$state/install.log" 2>&1 || { cat "$state/install.log"; exit 1; }
"$server" "${options[@]}" --auth none --disable-workspace-trust --disable-telemetry --disable-update-check \
  --bind-addr "127.0.0.1:$port" "$folder" >"$state/server.log" 2>&1 &
pid=$!
trap 'kill $pid; wait $pid 2>/dev/null; rm -rf "$state"' EXIT
for _ in $(seq 600); do
  curl --silent --fail --output /dev/null "http://127.0.0.1:$port/healthz" && break
  sleep 0.1
done
PLAYWRIGHT=$playwright node "$here/vscode.mjs" "http://127.0.0.1:$port/?folder=$folder" "$file"
