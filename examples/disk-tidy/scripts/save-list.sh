#!/usr/bin/env bash
# Saves the list of leftover files: {"folder": "…"} on stdin, the result as JSON on stdout.
set -u

source "${BASH_SOURCE[0]%/*}/clutter.sh"
read_folder
find_clutter

list=output/clutter.txt
if [[ ! -d output ]]; then fail NOT_FOUND 'there is no folder output; create it and call again'; fi
if [[ -L output || -L $list ]]; then fail INVALID_ARGUMENT "$list is a symbolic link"; fi
text=''
for path in "${found[@]}"; do text+=$path$'\n'; done
if ! printf '%s' "$text" 2>/dev/null >"$list"; then fail NOT_WRITABLE "cannot write $list"; fi
printf '{"saved_to":"%s","count":%d}\n' "$list" "${#found[@]}"
