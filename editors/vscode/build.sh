#!/usr/bin/env bash
# Packages the extension for one platform: build.sh BINARY TARGET OUTPUT.vsix, such as
#   editors/vscode/build.sh target/release/rep linux-x64 target/repertoire-linux-x64.vsix
# Needs Node 20 and npm. Install scripts of packages are not run.
set -euo pipefail
binary=$(realpath "$1")
platform=$2
output=$(realpath -m "$3")
source=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$source/../.." && pwd)
work=$root/target/vscode
mkdir -p "$work/bin" "$work/dist"
cp -r "$source/package.json" "$source/package-lock.json" "$source/.vscodeignore" "$source/README.md" "$source/src" "$work/"
cp "$root/LICENSE-MIT" "$work/LICENSE"
cd "$work"
npm ci --no-audit --no-fund --ignore-scripts --silent
# Without its install script, esbuild's launcher finds the binary of the platform package itself.
node_modules/.bin/esbuild src/extension.js --bundle --minify --platform=node --target=node20 --external:vscode \
  --outfile=dist/extension.js --log-level=warning
install -m 755 "$binary" "bin/$(basename "$binary")"
if grep -Eq '"(pre|post)?install"' package.json; then
  echo "the extension must not have an install script"
  exit 1
fi
node_modules/.bin/vsce package --no-dependencies --target "$platform" --out "$output" >/dev/null
size=$(stat -c %s "$output")
echo "$output: $size bytes"
[ "$size" -le 13000000 ] || { echo "the package exceeds its budget of 13 MB"; exit 1; }
