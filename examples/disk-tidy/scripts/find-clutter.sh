#!/usr/bin/env bash
# Lists leftover files: {"folder": "…"} on stdin, the result as JSON on stdout.
set -u

source "${BASH_SOURCE[0]%/*}/clutter.sh"
read_folder
find_clutter

files=''
for path in "${found[@]}"; do
  kind_of "$path"
  empty=true
  if [[ -s $found_in${path#"$folder"} ]]; then empty=false; fi
  json_string "$path"
  files+="${files:+,}{\"path\":$quoted,\"kind\":\"$kind\",\"empty\":$empty}"
done
json_string "$folder"
printf '{"folder":%s,"count":%d,"files":[%s]}\n' "$quoted" "${#found[@]}" "$files"
